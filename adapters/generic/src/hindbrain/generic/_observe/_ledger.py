"""The ledger of a session that lives in a host."""

from __future__ import annotations

from hindbrain.contracts import Branch, Host
from hindbrain.observe import Append, BranchMovedError, LedgerIndex

_MOVED = "branch-moved"


class HostLedger:
    """Reads the branch the host stands on and appends to it. One index for the whole session, fed with what is new.

    Args:
        host: where the conversation lives.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._index = LedgerIndex()
        self.moved = False

    async def index(self) -> LedgerIndex:
        """The branch as it stands now; ``moved`` says whether the session went to another one since the last look."""
        branch: Branch = await self._host.branch()
        self.moved = self._index.follow(branch)
        return self._index

    async def append(self, append: Append, *, expect_ancestor: str | None) -> None:
        """Append an entry.

        Raises:
            BranchMovedError: the session stands on another branch; nothing was appended.
        """
        try:
            await self._host.append(append.custom_type, append.data, expect_ancestor=expect_ancestor)
        except Exception as error:
            if getattr(error, "code", None) == _MOVED:  # a host at the other end of a pipe has errors of its own
                raise BranchMovedError from error
            raise
