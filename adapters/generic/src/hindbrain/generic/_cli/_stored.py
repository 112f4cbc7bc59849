"""What commands read of what recall left behind: the last recall, and the memories that are not to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from hindbrain.contracts import HindbrainError, JsonValue
from hindbrain.generic._cli._state import folder_for, with_view
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._envelope import Envelope
from hindbrain.generic._recall_files import own_path
from hindbrain.store import LastRecall, StateView


class NoLastRecallError(HindbrainError):
    """No recall was stored here, so there is none to look at."""

    code = "no-last-recall"

    def __init__(self, *, stores: bool) -> None:
        super().__init__(
            "No recall is stored in this state folder.",
            next_step="Ask the agent something first, and mind --host."
            if stores
            else "Set recall.storeLastRecall to true, and ask the agent something; mind --host, too.",
        )


@frozen(kw_only=True)
class Where:
    """Whose state folder is meant: a host of this project, or the folder itself."""

    host: str
    state_dir: str | None = None


def last_recall(settings: Settings, where: Where) -> Mapping[str, JsonValue]:
    """The last recall that was stored. Nothing is written or made.

    Raises:
        NoLastRecallError: there is none.
        StoreError: it is broken, or may not be read.
    """
    folder, root = folder_for(where.host, where.state_dir)
    config = memory_config(settings).recall
    found = LastRecall.at(folder, root=root, named=own_path(config.last_recall_path)).read()
    if found is None:
        raise NoLastRecallError(stores=config.store_last_recall)
    return found


async def suppressed_in(settings: Settings, where: Where) -> tuple[frozenset[str], Sequence[str]]:
    """The ids that are suppressed there, and what is to be told."""

    def ask(view: StateView | None) -> Envelope:
        return Envelope(command="suppress", data={"ids": frozenset() if view is None else view.suppressed.ids()})

    envelope = await with_view(settings, where.host, where.state_dir, ask)
    return envelope.data["ids"], envelope.warnings
