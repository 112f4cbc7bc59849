"""The story as values: `story.toml` read once, with defaults filled in."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STORY = Path(__file__).with_name("story.toml")


@dataclass(frozen=True)
class Call:
    """One tool call in neutral words; `args` are the words of that tool."""

    tool: str
    args: dict[str, str]
    fails: bool


@dataclass(frozen=True)
class Reply:
    """One answer of the model: a text, tool calls, or both."""

    say: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Summary:
    """The model's answers to a compaction; `turn` has a place for what the user `asked` in the split turn."""

    whole: str
    turn: str
    short: str


@dataclass(frozen=True)
class Step:
    """One move of the user: exactly one of `user`, `shell`, `rewind` and `compact` is not empty."""

    label: str
    user: str
    shell: str
    rewind: str
    compact: str
    summary: Summary | None
    replies: tuple[Reply, ...]
    hosts: tuple[str, ...]
    only_in: str


@dataclass(frozen=True)
class Question:
    """A question whose answer stands as `words` in what the user said at `step`."""

    ask: str
    step: str
    words: str


@dataclass(frozen=True)
class Story:
    """The whole script."""

    title: str
    project: str
    fork_at: str
    steps: tuple[Step, ...]
    questions: tuple[Question, ...]

    def steps_for(self, host: str, only_in: str = "") -> list[Step]:
        """Return the steps that this host plays, in the main session or in the named side session."""
        return [s for s in self.steps if host in s.hosts and s.only_in == only_in]

    def said(self, label: str) -> str:
        """Return the user's text of the step with that label; KeyError when there is none."""
        return {step.label: step.user for step in self.steps if step.label}[label]


def load_story(path: Path = STORY) -> Story:
    """Read the story; a wrong key or shape raises KeyError or TypeError."""
    data = tomllib.loads(path.read_text("utf-8"))
    questions = tuple(Question(**entry) for entry in data["question"])
    steps = tuple(_step(entry) for entry in data["step"])
    return Story(data["title"], data["project"], data["fork_at"], steps, questions)


def _step(entry: dict[str, Any]) -> Step:
    return Step(
        label=entry.get("label", ""),
        user=entry.get("user", ""),
        shell=entry.get("shell", ""),
        rewind=entry.get("rewind", ""),
        compact=entry.get("compact", ""),
        summary=Summary(**entry["summary"]) if "summary" in entry else None,
        replies=tuple(_reply(reply) for reply in entry.get("reply", [])),
        hosts=tuple(entry.get("hosts", ("pi", "omp"))),
        only_in=entry.get("only_in", ""),
    )


def _reply(entry: dict[str, Any]) -> Reply:
    return Reply(entry.get("say", "").strip(), tuple(_call(dict(call)) for call in entry.get("call", [])))


def _call(entry: dict[str, Any]) -> Call:
    return Call(tool=entry.pop("tool"), fails=entry.pop("fails", False), args=entry)
