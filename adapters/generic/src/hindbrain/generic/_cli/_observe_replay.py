"""``hindbrain observe replay``: with rules, or with a model behind an OpenAI-compatible address."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from attrs import evolve, frozen

from hindbrain.contracts import HindbrainError, InvalidValueError
from hindbrain.generic._cli import _observe_text as texts
from hindbrain.generic._cli._observe import Wish, lived, progress
from hindbrain.generic._cli._run import Options, run
from hindbrain.generic._config import Layer, Settings, merge
from hindbrain.generic._envelope import Envelope, Exit, exit_for
from hindbrain.memory.sessions import SessionFile, read_session
from hindbrain.observe import Replayed


@frozen(kw_only=True)
class Named:
    """The model that stands on the command line; None where the settings decide."""

    model: str | None = None
    base_url: str | None = None
    api_key_ref: str | None = None
    model_window: int | None = None

    def over(self, settings: Settings) -> Settings:
        """The settings with what stands on the command line.

        The key of another address is never sent to the one that is named here.

        Raises:
            InvalidValueError: no address, or one or its key that does not have its form.
        """
        said = {
            "observe.endpoint.model": self.model,
            "observe.endpoint.baseUrl": self.base_url,
            "observe.endpoint.apiKeyRef": self.api_key_ref,
            "observe.endpoint.window": self.model_window,
        }
        given = {path: value for path, value in said.items() if value is not None}
        made = merge([Layer(origin="command line", values=_nested(given))])
        over = {path: setting for path, setting in made.values.items() if setting.origin == "command line"}
        for path in given.keys() - over.keys():
            raise InvalidValueError(path, "a value of its form", next_step="See docs/settings.md.")
        if "observe.endpoint.baseUrl" in over:
            over.setdefault("observe.endpoint.apiKeyRef", made.values["observe.endpoint.apiKeyRef"])
        both = evolve(settings, values={**settings.values, **over})
        for path, option in (("observe.endpoint.baseUrl", "--base-url"), ("observe.endpoint.model", "--model")):
            if both[path] is None:
                raise InvalidValueError(path, "a value, since a model was asked for", next_step=f"Give {option}.")
        return both


def _nested(flat: Mapping[str, object]) -> dict[str, object]:
    endpoint = {path.rpartition(".")[2]: value for path, value in flat.items()}
    return {"observe": {"endpoint": endpoint}} if endpoint else {}


class FailedRunsError(HindbrainError):
    """Some runs of the workers failed. ``code`` is that of the last one."""

    def __init__(self, code: str, what: str, count: int) -> None:
        super().__init__(f"{count} runs failed, the last one so: {what}", next_step="Run the command again.")
        self.code = code  # type: ignore[misc]  # one error elsewhere has one code; this one passes on another's


def replay(options: Options, wish: Wish, named: Named) -> None:
    """Live through a session."""

    async def work(settings: Settings) -> Envelope:
        session = read_session(wish.session)
        if wish.observer != "model":
            return _told(session, lived(wish, session, quiet=options.as_json))
        return await _by_model(wish, session, named.over(settings), quiet=options.as_json)

    run("observe replay", options, work)


async def _by_model(wish: Wish, session: SessionFile, settings: Settings, *, quiet: bool) -> Envelope:
    from hindbrain.generic._open_model import open_model
    from hindbrain.observe import replay_with_model

    with ExitStack() as stack:
        async with open_model(settings) as source:
            done = await replay_with_model(
                session.branch().path(),
                source,
                wish.config,
                window=wish.window,
                keep=wish.keep_recent,
                progress=progress(stack, quiet=quiet),
            )
    return _told(session, done)


def _told(session: SessionFile, done: Replayed) -> Envelope:
    made = Envelope(
        command="observe replay", data=texts.replay_data(session, done), text=texts.replay_text(session, done)
    )
    failures = done.workers.failures
    if not failures:
        return made
    error = FailedRunsError(failures[-1].code, failures[-1].text, len(failures))
    kept = done.index.fold.observations
    return evolve(made, error=error, exit=Exit.PARTIAL if kept else exit_for(error.code))
