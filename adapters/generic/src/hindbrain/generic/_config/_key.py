"""One setting: its name, its form, its default, and who may set it."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from hindbrain.generic._config._form import Form


@frozen(kw_only=True)
class Key:
    """One setting. ``env`` names variables that set it, best last; ``about`` is a line for people.

    A key is unsafe unless it says otherwise: an endpoint, a token, a bank, an identity, a path or a command in a
    repository's file would let the repository redirect memory. ``alias_of`` is the key that an older name stands for.

    A safe number has bounds for a project's file that is not trusted: what it may cost the user who opened a folder.

    Source: decisions.md, "Configuration and trust".
    """

    path: str
    form: Form
    about: str
    default: Any
    project_safe: bool = False
    project_bounds: tuple[int, int] | None = None
    """The least and the most that an untrusted project may set; the form's own bounds are for the user."""
    env: tuple[str, ...] = ()
    alias_of: str | None = None
    waits: bool = False
    """Whether nothing reads it yet: whoever sets it is told so."""

    @property
    def target(self) -> str:
        """The key whose value this one sets."""
        return self.alias_of or self.path

    @property
    def own_env(self) -> str:
        """Our own variable for the key, such as ``HINDBRAIN_RECALL_MAX_TOKENS``."""
        words = "".join(f"_{c}" if c.isupper() else c for c in self.path.replace(".", "_"))
        return f"HINDBRAIN_{words.upper()}"

    @property
    def nullable(self) -> bool:
        """Whether null is a value: it is where nothing is set unless somebody sets it."""
        return self.default is None

    def admits(self, value: object) -> bool:
        """Whether an untrusted project may set this value, which is of the key's form."""
        if not self.project_safe or self.project_bounds is None:
            return self.project_safe
        least, most = self.project_bounds
        return isinstance(value, int) and least <= value <= most

    def read(self, value: object) -> Any:
        """The value in the key's type.

        Raises:
            FormError: it is not of the key's form.
        """
        return None if value is None and self.nullable else self.form.read(value)

    def read_leniently(self, value: object) -> tuple[Any, tuple[str, ...]]:
        """The value, and what was left out of it, in words.

        Raises:
            FormError: nothing of it is of the key's form.
        """
        return (None, ()) if value is None and self.nullable else self.form.read_leniently(value)
