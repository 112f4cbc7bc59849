"""The settings of observational memory: seed 004's names under ``observe``. Thresholds and pools are safe in a project.

What starts workers, names their model or writes a file is not.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from hindbrain.generic._config._form import COUNT, FLAG, NAME, Form, FormError, choice, whole
from hindbrain.generic._config._key import Key
from hindbrain.observe import ObserveConfig, Thinking

_DEFAULT = ObserveConfig()
_DURATION = re.compile(r"([0-9]{1,7}) *(s|m|h)?")
_WRITTEN = r"^ *([0-9]{1,7} *[smhSMH]?|[Nn]ever|NEVER|[Ff]alse|FALSE) *$"
_UNITS = {None: 1, "s": 1, "m": 60, "h": 3600}
_LONGEST = 2_147_483


def _seconds(value: int | str | Literal[False]) -> int:
    """Seconds, 0 for never."""
    if isinstance(value, str):
        found = _DURATION.fullmatch(value.strip().lower())
        value = 0 if found is None else int(found[1]) * _UNITS[found[2]]
    if value > _LONGEST:
        raise FormError("too long")
    return int(value)


_IDLE = Form(
    Annotated[
        Annotated[int, Field(strict=True, ge=0, le=_LONGEST)]
        | Annotated[str, Field(pattern=_WRITTEN)]
        | Literal[False],
        AfterValidator(_seconds),
    ],
    'seconds, a duration such as "30m" or "1h", or "never"',
)
_RATIO = Form(
    Annotated[float, Field(strict=True, gt=0, lt=1, allow_inf_nan=False)], "a number between 0 and 1", "number"
)


def _key(path: str, form: Form, default: Any, about: str, within: tuple[int, int] | None = None) -> Key:
    return Key(
        path=f"observe.{path}",
        form=form,
        default=default,
        about=about,
        project_safe=within is not None,
        project_bounds=within,
    )


def _words(path: str, form: Form, default: Any, about: str) -> Key:
    """A key whose values are few and harmless."""
    return Key(path=f"observe.{path}", form=form, default=default, about=about, project_safe=True)


OBSERVE = (
    _key("enabled", FLAG, True, "Whether a session is observed, so that a compaction keeps what matters."),  # noqa: FBT003
    _key(
        "observeAfterTokens",
        COUNT,
        _DEFAULT.observe_after_tokens,
        "From how many estimated tokens of new conversation on the observer runs.",
        (2_000, 500_000),
    ),
    _key(
        "observerChunkMaxTokens",
        whole(256, 1_000_000, "a whole number from 256 up"),
        None,
        "The most tokens of conversation in one request to the observer; unset, a fifth of its model's window.",
        (256, 200_000),
    ),
    _key(
        "reflectAfterTokens",
        COUNT,
        _DEFAULT.reflect_after_tokens,
        "From how many estimated tokens since the last reflection on the reflector runs.",
        (4_000, 500_000),
    ),
    _key(
        "compactAfterTokens",
        COUNT,
        _DEFAULT.compact_after_tokens,
        "From how many estimated tokens on a compaction is asked for.",
        (10_000, 500_000),
    ),
    _words(
        "compactAfterTokensMode",
        choice("calibrated", "ratio"),
        _DEFAULT.compact_after_tokens_mode,
        "Whether that is a fixed number, or a share of the model's window.",
    ),
    _words(
        "compactAfterTokensRatio",
        _RATIO,
        _DEFAULT.compact_after_tokens_ratio,
        "The share of the model's window, in ratio mode.",
    ),
    _key(
        "observationsPoolMaxTokens",
        COUNT,
        _DEFAULT.observations_pool_max_tokens,
        "From how many tokens of observations on a compaction folds all drops in.",
        (1_000, 100_000),
    ),
    _key(
        "observationsPoolTargetTokens",
        COUNT,
        None,
        "The tokens that active observations are held at; unset, half of the maximum.",
        (500, 100_000),
    ),
    _key(
        "memoryMaxTokens",
        COUNT,
        None,
        "The most tokens of visible memory; unset, the smaller of half the trigger and a tenth of the window.",
        (500, 40_500),
    ),
    _key(
        "agentMaxTurns",
        COUNT,
        _DEFAULT.agent_max_turns,
        "The most answers of a model in one run of a worker.",
        (1, 16),
    ),
    _key(
        "agentMaxTokens",
        COUNT,
        _DEFAULT.agent_max_tokens,
        "The most tokens of one answer of a worker's model.",
        (256, 32_000),
    ),
    _key("model.provider", NAME, None, "The provider of the workers' model; unset, the session's own model works."),
    _key("model.id", NAME, None, "The workers' model, by its provider's name for it."),
    _key(
        "model.thinking",
        choice(*Thinking),
        Thinking.LOW.value,
        "How much the workers' model reasons before it answers.",
    ),
    _key(
        "observer",
        choice("model", "extractive"),
        _DEFAULT.observer,
        "Whether a model observes, or rules that need none.",
    ),
    _words(
        "showWorkerNotifications",
        FLAG,
        _DEFAULT.show_worker_notifications,
        "Whether the routine work of the workers is shown. Warnings and errors always are.",
    ),
    Key(
        path="observe.passive",
        form=FLAG,
        default=_DEFAULT.passive,
        about="Whether nothing starts by itself: no worker and no compaction; the commands still work.",
        env=("PI_OBSERVATIONAL_MEMORY_PASSIVE",),
    ),
    _key("debugLog", FLAG, _DEFAULT.debug_log, "Whether each session writes a debug log, of ids and counts only."),
    _key("subagents", FLAG, _DEFAULT.subagents, "Whether subagents are observed, too."),
    _key(
        "idleCompactionTtl",
        _IDLE,
        _DEFAULT.idle_compaction_ttl,
        "After how long a silence a session with enough new conversation is compacted; 0 or never switches it off.",
        (60, 86_400),
    ),
    _key(
        "idleCompactionMinTokens",
        COUNT,
        _DEFAULT.idle_compaction_min_tokens,
        "The fewest estimated tokens since the last compaction that a silence compacts.",
        (10_000, 500_000),
    ),
)
