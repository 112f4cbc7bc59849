"""The tools a model is offered. Each answers in words; one that fails says why, and the turn goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from hindbrain.contracts import Fact, FactType, HindbrainError, JsonValue, MinScores, neutralise
from hindbrain.generic._explicit import ExplicitRetain
from hindbrain.generic._session import Session
from hindbrain.generic.sidecar._host import PeerHost
from hindbrain.generic.sidecar._report import report
from hindbrain.generic.sidecar._said import BadArgumentError, Said
from hindbrain.generic.sidecar._tag_groups import tag_groups
from hindbrain.memory import Question

_MOST_CHARS = 24_000
"""What a tool may add to the conversation, about 6 000 tokens."""


async def call_tool(
    name: str, session: Session, host: PeerHost, arguments: Mapping[str, JsonValue], *, ui: bool
) -> Said:
    """Run a tool by its name. Nothing is raised for what the model, the memory or the user got wrong."""
    tool = _TOOLS.get(name)
    if tool is None:
        return Said(text=f"There is no tool {name!r} here.", is_error=True)
    try:
        return await tool(session, host, arguments, ui)
    except HindbrainError as error:
        return Said(text=str(error), is_error=True, details={"code": error.code})


async def _recall(session: Session, _host: PeerHost, arguments: Mapping[str, JsonValue], _ui: bool) -> Said:
    groups = tag_groups(arguments.get("tagGroups"))
    question = Question(
        text=_text(arguments, "query"),
        # An observation bears the tags of its scope, not those of what it was made from: by these, facts are found.
        types=(FactType.WORLD, FactType.EXPERIENCE) if groups else None,
        tag_groups=groups,
        min_scores=_floors(arguments.get("minScores")),
    )
    answer = await session.recall(question)
    lines = [_line(bank, fact) for bank, fact in answer.facts]
    lines += [f"({each.bank} gave no answer: {each.code}.)" for each in answer.failures]
    details = {
        "found": len(answer.facts),
        "ids": [fact.id for _, fact in answer.facts],
        "failures": [each.code for each in answer.failures],
    }
    failed = bool(answer.failures) and not answer.facts
    return Said(text=_bounded(lines) or "Nothing was found.", is_error=failed, details=details)


async def _retain(session: Session, _host: PeerHost, arguments: Mapping[str, JsonValue], _ui: bool) -> Said:
    text, tags = _text(arguments, "content"), _texts(arguments, "tags")
    return _kept(await session.explicit.retain(text, tags=tags, context=_text(arguments, "context", default="")))


async def _retain_user(session: Session, _host: PeerHost, arguments: Mapping[str, JsonValue], _ui: bool) -> Said:
    text, tags = _text(arguments, "content"), _texts(arguments, "tags")
    return _kept(await session.explicit.retain_user(text, tags=tags, context=_text(arguments, "context", default="")))


async def _status(session: Session, _host: PeerHost, _arguments: Mapping[str, JsonValue], _ui: bool) -> Said:
    found = await report(session)
    return Said(text="\n".join(found.lines()), details=found.counts())


async def _delete(session: Session, host: PeerHost, arguments: Mapping[str, JsonValue], ui: bool) -> Said:
    document = _text(arguments, "documentId")
    bank = _text(arguments, "bank", default="") or None
    if not ui:
        return Said(text="Nobody can confirm here; nothing was deleted. Use `hindbrain delete`.", is_error=True)
    if not await host.confirm("Delete a document from memory?", f"{document} in {bank or session.bank}"):
        return Said(text="The user did not confirm; nothing was deleted.", is_error=True)
    gone = await session.explicit.forget(document, bank=bank)
    text = (
        f"{document} was deleted, with {gone.deleted.facts} facts."
        if gone.deleted.found
        else f"{document} was not there."
    )
    return Said(text=text, details={"facts": gone.deleted.facts, "givenUp": gone.given_up})


_Tool = Callable[[Session, PeerHost, Mapping[str, JsonValue], bool], Awaitable[Said]]
_TOOLS: dict[str, _Tool] = {
    "hindsight_recall": _recall,
    "hindsight_retain": _retain,
    "hindsight_retain_user": _retain_user,
    "hindsight_status": _status,
    "hindsight_delete_document": _delete,
}
TOOLS = tuple(_TOOLS)
"""The names that ``call_tool`` knows; those that hosts are told of are the adapter's surface.json."""


def _kept(retained: ExplicitRetain) -> Said:
    document = retained.job.item.document_id
    what = "Retained" if retained.sent else "Kept, and sent as soon as the server takes it"
    details = {"documentId": document, "operationId": retained.job.operation_id, "sent": retained.sent}
    return Said(text=f"{what} (document {document}).", details=details)


def _line(bank: str, fact: Fact) -> str:
    kind = f"{fact.type}, " if fact.type else ""
    when = f", {fact.occurred_start[:10]}" if fact.occurred_start else ""
    document = f", document {fact.document_id}" if fact.document_id else ""
    return f"- {neutralise(fact.text)} ({kind}bank {bank}{when}, id {fact.id}{document})"


def _bounded(lines: list[str]) -> str:
    """As many whole lines as fit, and how many did not."""
    size = 0
    shown: list[str] = []
    for line in lines:
        size += len(line) + 1
        if size > _MOST_CHARS:
            shown.append(f"({len(lines) - len(shown)} more did not fit; ask for something narrower.)")
            break
        shown.append(line)
    return "\n".join(shown)


def _text(arguments: Mapping[str, JsonValue], name: str, *, default: str | None = None) -> str:
    value = arguments.get(name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise BadArgumentError(name, "a text that is not blank")
    return value


def _texts(arguments: Mapping[str, JsonValue], name: str) -> tuple[str, ...]:
    value = arguments.get(name) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BadArgumentError(name, "a list of texts")
    return tuple(value)


def _floors(value: JsonValue) -> MinScores | None:
    if value is None:
        return None
    names = ("semantic", "keyword", "reranker", "final")
    if not isinstance(value, dict) or not set(value) <= set(names):
        raise BadArgumentError("minScores", f"an object of {', '.join(names)}")
    return MinScores(**value)
