"""What a host shows of memory: the footer's words and the notices. Source: seed 000, status and notification settings.

How it looks is a project's to choose. Whether something is said when a session opens is the user's own: a repository
that is opened hides no warning.
"""

from __future__ import annotations

from hindbrain.generic._config._form import FLAG, choice, whole
from hindbrain.generic._config._key import Key

SHOWN = (
    Key(
        path="status.style",
        form=choice("off", "text", "emoji", "nerdfont"),
        about="How the footer names memory: by a word, a picture or a glyph; off shows nothing.",
        default="text",
        project_safe=True,
    ),
    Key(
        path="status.detail",
        form=choice("minimal", "project", "activity", "verbose"),
        about="The footer says a state alone, with the project, with numbers, or with both.",
        default="activity",
        project_safe=True,
    ),
    Key(
        path="status.maxLength",
        form=whole(1, 200, "a whole number from 1 to 200"),
        about="The most cells of the footer's words; what is longer is cut.",
        default=24,
        project_safe=True,
        project_bounds=(8, 80),
    ),
    Key(
        path="status.showActivity",
        form=FLAG,
        about="The footer says also what is under way and over in a moment, such as a recall.",
        default=True,
        project_safe=True,
    ),
    Key(
        path="notifications.startup",
        form=FLAG,
        about="Say when a session opens that memory is off in it, or that the host's own memory is on, too.",
        default=True,
    ),
    Key(
        path="notifications.recall",
        form=FLAG,
        about="Say how many memories a prompt was shown.",
        default=False,
        project_safe=True,
    ),
    Key(
        path="notifications.retain",
        form=FLAG,
        about="Say that a turn was retained.",
        default=False,
        project_safe=True,
    ),
)
