"""What becomes of the reflector's proposals: pure judgement, call by call.

Source: 004_d1a6c9e182f889a8.txt, "Memory budget" (reflections); spec/observe.md section 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, field, frozen

from hindbrain.contracts import JsonValue
from hindbrain.observe._agent import Receipt
from hindbrain.observe._errors import EmptyRecordError
from hindbrain.observe._records import Reflection, bounded, make_reflection, record_id
from hindbrain.observe._sight import Sight


@frozen(kw_only=True)
class Known:
    """What proposals are judged by: what the reflector sees, all reflections in force, and the superseded ids."""

    sight: Sight
    active: Mapping[str, Reflection]
    retired: frozenset[str]


@frozen(kw_only=True)
class ReflectionDraft:
    """The reflections of one run so far, by id.

    ``replaced`` are the ids that proposals take the place of; ``kept`` those that some proposal stands on, which are
    never retired.
    """

    records: Mapping[str, Reflection] = field(factory=dict)
    replaced: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    rejected: int = 0

    @property
    def superseded(self) -> tuple[str, ...]:
        """The reflections that leave, each once, in the order they were named."""
        return tuple(each for each in dict.fromkeys(self.replaced) if each not in self.kept)


def judge_reflections(
    arguments: Mapping[str, JsonValue], known: Known, draft: ReflectionDraft
) -> tuple[ReflectionDraft, Receipt]:
    """Take the sound proposals of one call, each on its own: a refused one retires nothing."""
    raws = arguments.get("reflections")
    if not isinstance(raws, list) or not raws:
        return evolve(draft, rejected=draft.rejected + 1), Receipt(
            "reflections must be a list of at least one.", refused=True
        )
    after = draft
    for raw in raws:
        after = _judge(raw, known, after)
    rejected = after.rejected - draft.rejected
    added = len(after.records) - len(draft.records)
    text = (
        f"{added} added, {len(raws) - added - rejected} known already, {rejected} refused; "
        f"{len(after.superseded)} superseded in all."
    )
    if rejected:
        text += " Refused are those without content, of several lines, superseded before, or resting on nothing shown."
    return after, Receipt(text, rejected == len(raws))


def _judge(raw: JsonValue, known: Known, draft: ReflectionDraft) -> ReflectionDraft:
    refused = evolve(draft, rejected=draft.rejected + 1)
    line = _line(raw.get("content")) if isinstance(raw, Mapping) else None
    if line is None or (key := record_id(bounded(line))) in known.retired:
        return refused
    over = _listed(raw.get("supersedes"), {each.id for each in known.sight.reflections})
    records = dict(draft.records)
    if key not in known.active and key not in records:
        try:
            records[key] = make_reflection(line, supports=_supports(raw, known.sight, over))
        except EmptyRecordError:
            return refused
    return evolve(draft, records=records, replaced=(*draft.replaced, *over), kept=draft.kept | {key})


def _line(content: JsonValue) -> str | None:
    """The statement; None where there is nothing to see in it, or it is of several lines."""
    line = content.strip() if isinstance(content, str) else ""
    return line if len(line.splitlines()) == 1 and bounded(line) else None


def _listed(raw: JsonValue, among: set[str]) -> tuple[str, ...]:
    names = raw if isinstance(raw, list) else []
    return tuple(dict.fromkeys(each for each in names if isinstance(each, str) and each in among))


def _supports(raw: Mapping[str, JsonValue], sight: Sight, over: tuple[str, ...]) -> tuple[str, ...]:
    """The observations it rests on, in the order they are shown; else those that the replaced ones rested on."""
    named = raw.get("supportingObservationIds")
    shown = [each.id for each in sight.observations]
    if isinstance(named, list) and named and all(each in shown for each in named):
        return tuple(each for each in shown if each in named)
    old = {each.id: each for each in sight.reflections}
    return tuple(dict.fromkeys(support for each in over for support in old[each].support_ids))
