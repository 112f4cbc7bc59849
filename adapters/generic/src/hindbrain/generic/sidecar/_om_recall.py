"""The tool by which a model reads what a record of its memory rests on. Source: spec/observe.md section 6."""

from __future__ import annotations

from collections.abc import Mapping

from hindbrain.contracts import HindbrainError, JsonValue
from hindbrain.generic._observe import Observing
from hindbrain.generic.sidecar._said import BadArgumentError, Said

OM_TOOLS = frozenset({"om_recall", "recall"})
"""The tool, and its other name where a host leaves that free."""


async def om_recall(observing: Observing | None, arguments: Mapping[str, JsonValue]) -> Said:
    """The passages behind an id, a page at a time. Nothing is raised for a broken memory."""
    if observing is None:
        return Said(text="This session is not observed; there is nothing to recall by id.", is_error=True)
    try:
        found = await observing.recall(_id(arguments), _page(arguments))
    except HindbrainError as error:
        return Said(text=str(error), is_error=True, details={"code": error.code})
    except Exception as error:  # noqa: BLE001  (the border to the host: the turn goes on)
        return Said(text=f"The session could not be read ({type(error).__name__}).", is_error=True)
    state = "ok" if found.good else "warning"
    return Said(text=found.text, details={"state": state, "page": found.page, "pages": found.pages})


def _id(arguments: Mapping[str, JsonValue]) -> str:
    value = arguments.get("id")
    if not isinstance(value, str):
        raise BadArgumentError("id", "an id of 12 characters")
    return value


def _page(arguments: Mapping[str, JsonValue]) -> int:
    value = arguments.get("page", 1)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadArgumentError("page", "a whole number from 1")
    return value
