"""``hindbrain recall QUERY``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from hindbrain.contracts import Backend, Fact, neutralise
from hindbrain.generic._asker import Asker, NoAnswerError
from hindbrain.generic._cli._run import Options, run, with_backend
from hindbrain.generic._cli._stored import Where, suppressed_in
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._envelope import Envelope, Exit, exit_for
from hindbrain.generic._open import find_project
from hindbrain.memory import Question


def _shown(fact: Fact) -> dict[str, Any]:
    return {
        **attrs.asdict(fact, recurse=False, filter=lambda a, _v: a.name not in {"metadata", "scores"}),
        "tags": list(fact.tags),
        "source_fact_ids": list(fact.source_fact_ids),
        "metadata": dict(fact.metadata),
        "scores": attrs.asdict(fact.scores),
    }


def recall(options: Options, query: str, bank: str | None, *, unscoped: bool) -> None:
    """Recall as a tool of this project's session would; ``unscoped`` drops the tag filter."""

    async def work(settings: Settings) -> Envelope:
        config = memory_config(settings)
        project = await find_project(str(Path.cwd()), settings)
        suppressed, notices = await suppressed_in(settings, Where(host="generic"))

        async def use(backend: Backend) -> Envelope:
            asker = Asker(backend, config, project, "cli")
            answer = await asker.ask(Question(text=query), bank=bank, scoped=not unscoped)
            if answer.failures and not answer.facts:
                error = NoAnswerError(answer.failures[0].code)
                return Envelope(command="recall", error=error, exit=exit_for(error.why))
            found = answer.without(suppressed).facts
            hidden = len(answer.facts) - len(found)
            data = {
                "facts": [{"bank": place, **_shown(fact)} for place, fact in found],
                "failures": [attrs.asdict(failure) for failure in answer.failures],
                "suppressed": hidden,
            }
            text = "\n".join(f"{n}. {neutralise(fact.text)}" for n, (_, fact) in enumerate(found, start=1))
            return Envelope(
                command="recall",
                data=data,
                text=text or "(nothing was found)",
                warnings=[
                    *notices,
                    *(f"{each.bank} gave no answer ({each.code})." for each in answer.failures),
                    *([f"{hidden} suppressed memories are left out."] if hidden else []),
                ],
                exit=Exit.PARTIAL if answer.failures else Exit.OK if found else Exit.FAILED,
            )

        return await with_backend(settings, use)

    run("recall", options, work)
