"""What is recalled because somebody asked, whatever the session's mode."""

from __future__ import annotations

from attrs import evolve

from hindbrain.contracts import Backend, HindbrainError, check_bank
from hindbrain.generic._open import SettingsError
from hindbrain.memory import (
    MemoryConfig,
    Project,
    Question,
    RecallAnswer,
    RecallScope,
    is_readable,
    recall_explicitly,
    recall_scopes,
    scope_of,
)


class NoAnswerError(HindbrainError):
    """No bank gave an answer. ``why`` is the code of the first one's failure."""

    code = "no-answer"

    def __init__(self, code: str) -> None:
        super().__init__(
            f"No bank gave an answer ({code}).", next_step="See `hindbrain doctor`, with --online where it is a server."
        )
        self.why = code


class Asker:
    """Asks the banks of a project, or one that is named. It raises: whoever asked wants to know.

    Args:
        backend: where to ask.
        config: the memory path's settings.
        project: the project's identity.
        host: whose user tags are meant.
    """

    def __init__(self, backend: Backend, config: MemoryConfig, project: Project, host: str) -> None:
        self._backend = backend
        self._config = config
        self._project = project
        self._host = host

    async def ask(self, question: Question, *, bank: str | None = None, scoped: bool = True) -> RecallAnswer:
        """Ask with the scope of each bank.

        Args:
            question: the question, and what it says beside the settings.
            bank: the one bank to ask; None asks all that a session reads.
            scoped: whether the scopes' own tag filters hold.

        Raises:
            SettingsError: the settings do not let this bank be read; nothing was sent.
            InvalidValueError, BackendRequestError: the bank, a filter or a minimum is refused; nothing was sent.
        """
        scopes = self._scopes(bank)
        if not scoped:
            scopes = tuple(evolve(scope, filter=()) for scope in scopes)
        return await recall_explicitly(self._backend, question, scopes, self._config.recall)

    def _scopes(self, bank: str | None) -> tuple[RecallScope, ...]:
        if bank is None:
            return recall_scopes(self._config, self._project, self._host)
        if not is_readable(check_bank(bank), self._config, self._project):
            raise SettingsError(
                "The settings do not let this bank be read; nothing was sent.",
                next_step="Change its access in banks[], or name another bank.",
            )
        return (scope_of(bank, self._config, self._project, self._host),)
