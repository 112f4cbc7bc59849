"""What only the other side can tell: whether it answers, whether we may ask, and whether it has made observations."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from hindbrain.contracts import Backend, BackendError, Budget, FactType, RecallQuery
from hindbrain.generic._doctor._case import Case
from hindbrain.generic._doctor._finding import Finding, ok, problem, warning
from hindbrain.generic._embedder import EmbeddingError
from hindbrain.generic._open import open_backend, open_embedder
from hindbrain.memory import RecallScope, project_bank, recall_scopes

_QUESTION = (
    "What matters in this project? The user wants, prefers, likes, asked, said, decided, agreed, needs; we use, add,"
    " change, fix, remove, run, build, test, write, read, call, keep, start, stop; file, code, function, error, bug,"
    " command, server, port, name, branch, release, version, line, time, number, key, user, data, work, new, first"
)
"""Words that hardly any project does without: a server that finds by meaning or by words finds something for them."""
_TOKENS = 200
_RAW, _OBSERVATIONS = (FactType.WORLD, FactType.EXPERIENCE), (FactType.OBSERVATION,)


async def online(case: Case) -> Iterable[Finding]:
    """Ask the server, or the embedder of the banks on this machine, with the four verbs only."""
    if case.settings["backend"] == "local":
        return await _embedder(case)
    async with open_backend(case.settings) as backend:
        reach = await _reach(backend, case)
        if reach.level == "problem" or case.project is None:
            return [reach]
        scopes = recall_scopes(case.config, case.project, case.tag)
        return [reach, *[await _observations(backend, scope) for scope in scopes]]


async def _reach(backend: Backend, case: Case) -> Finding:
    """A status call on a random id: reachable and authorised if it answers ``not_found``."""
    bank = "hindbrain-doctor" if case.project is None else project_bank(case.config, case.project)
    try:
        state = await backend.status(bank, str(uuid.uuid4()))
    except BackendError as error:
        return problem("reach", error.what, error.next_step, code=error.code)
    return ok("reach", f"answers, and knows no such operation ({state.status.value})", status=state.status.value)


async def _observations(backend: Backend, scope: RecallScope) -> Finding:
    """Raw facts without observations explain why nothing is recalled: by default observations only are."""
    try:
        raw, made = [await _count(backend, scope, types) for types in (_RAW, _OBSERVATIONS)]
    except BackendError as error:
        return problem("memories", f"{scope.bank} could not be asked: {error.what}", error.next_step, code=error.code)
    data = {"bank": scope.bank, "raw": raw, "observations": made}
    if raw and not made:
        text = f"{scope.bank} has raw facts but no observations under these tags."
        advice = (
            "The server may still be making them. If none come, see observations.scopes and the server's model, or add"
            " world and experience to recall.types."
        )
        return warning("memories", text, advice, **data)
    if not (raw or made):
        return ok("memories", f"{scope.bank} has nothing under these tags yet that a recall finds", **data)
    return ok("memories", f"{scope.bank} has observations under these tags", **data)


async def _count(backend: Backend, scope: RecallScope, types: tuple[FactType, ...]) -> int:
    """How many facts of these kinds a small recall brings; what they say is not looked at."""
    query = RecallQuery(text=_QUESTION, types=types, tag_groups=scope.filter, budget=Budget.LOW, max_tokens=_TOKENS)
    return len((await backend.recall(scope.bank, query)).facts)


async def _embedder(case: Case) -> list[Finding]:
    embedder = open_embedder(case.settings)
    if embedder is None:
        return [ok("reach", "there is nothing to reach: the banks are on this machine")]
    try:
        await embedder.embed(["hindbrain doctor"])
    except (EmbeddingError, BackendError) as error:
        return [problem("reach", error.what, error.next_step, code=error.code)]
    finally:
        await embedder.close()
    return [ok("reach", f"the embedder answers with vectors of length {embedder.dimension}")]
