"""The settings of the workers' model where no host gives one. None is safe: an address would carry a session away."""

from __future__ import annotations

from hindbrain.generic._config._form import NAME, REFERENCE, URL, whole
from hindbrain.generic._config._key import Key

ENDPOINT = (
    Key(
        path="observe.endpoint.baseUrl",
        form=URL,
        about="An OpenAI-compatible address whose model works for memory where no host gives one.",
        default=None,
    ),
    Key(path="observe.endpoint.model", form=NAME, about="The model asked for there.", default=None),
    Key(path="observe.endpoint.apiKeyRef", form=REFERENCE, about="Where that address's key is kept.", default=None),
    Key(
        path="observe.endpoint.window",
        form=whole(1_024, 10_000_000, "a whole number from 1024 up"),
        about="The window of that model in tokens; unset, nobody knows it.",
        default=None,
    ),
)
