"""What becomes of the observer's proposals: pure judgement, call by call.

Source: spec/observe.md section 3.3; faults F-3 and F-4 there; decisions.md, "Observational memory".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, field, frozen

from hindbrain.contracts import JsonValue
from hindbrain.observe._agent import Receipt
from hindbrain.observe._chunk import Chunk, moment_of
from hindbrain.observe._errors import EmptyRecordError
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._records import Kind, Observation, Relevance, make_observation

_RELEVANCES, _KINDS = set(Relevance), set(Kind)


@frozen(kw_only=True)
class ObservationDraft:
    """The observations of one run so far, by id, and how many proposals were refused."""

    records: Mapping[str, Observation] = field(factory=dict)
    rejected: int = 0


@frozen(kw_only=True)
class Passages:
    """What is observed: a chunk of a branch, the zone its times are written in, and the time now."""

    index: LedgerIndex
    chunk: Chunk
    zone: str
    now: int


def judge_observations(
    arguments: Mapping[str, JsonValue], passages: Passages, draft: ObservationDraft
) -> tuple[ObservationDraft, Receipt]:
    """Take the sound proposals of one call. One that cites anything but passages of the chunk is refused whole.

    A kind nobody knows counts as a fact; sources are put in the order of the branch, each once.
    """
    raws = arguments.get("observations")
    if not isinstance(raws, list) or not raws:
        return evolve(draft, rejected=draft.rejected + 1), Receipt(
            "observations must be a list of at least one.", refused=True
        )
    made = [_observation(raw, passages) for raw in raws]
    sound = [each for each in made if each is not None]
    records = dict(draft.records)
    for each in sound:
        records.setdefault(each.id, each)
    added = len(records) - len(draft.records)
    rejected = len(made) - len(sound)
    text = f"{added} added, {len(sound) - added} recorded before, {rejected} refused; {len(records)} in all."
    if rejected:
        text += " Refused are those without content or relevance, or with a sourceEntryIds that is no passage here."
    return ObservationDraft(records=records, rejected=draft.rejected + rejected), Receipt(text, not sound)


def _observation(raw: JsonValue, passages: Passages) -> Observation | None:
    if not isinstance(raw, Mapping):
        return None
    content, relevance, kind = raw.get("content"), raw.get("relevance"), raw.get("kind")
    sources = _sources(raw.get("sourceEntryIds"), passages.chunk)
    if not isinstance(content, str) or not sources or not isinstance(relevance, str) or relevance not in _RELEVANCES:
        return None
    try:
        return make_observation(
            content,
            at=moment_of(passages.index, sources, last_at=passages.chunk.last_at, now=passages.now),
            sources=sources,
            relevance=Relevance(relevance),
            kind=Kind(kind) if isinstance(kind, str) and kind in _KINDS else Kind.FACT,
            zone=passages.zone,
        )
    except EmptyRecordError:
        return None


def _sources(raw: JsonValue, chunk: Chunk) -> list[str]:
    """The cited passages in the order of the branch; none where one of them is not of the chunk."""
    if not isinstance(raw, list) or not all(isinstance(each, str) for each in raw):
        return []
    cited = set(raw)
    return [each for each in chunk.source_ids if each in cited] if cited <= set(chunk.source_ids) else []


def reached(chunk: Chunk, records: Iterable[Observation], *, failed: bool) -> str | None:
    """The last passage that a run which ended early has observed; None where it is none.

    That is as far as each passage is cited, from the first one on. A model that was cut short, but did not fail, passed
    over what lies before the first passage it cites.
    """
    cited = {source for record in records for source in record.source_ids}
    last: str | None = None
    for source in chunk.source_ids:
        if source in cited:
            last = source
        elif last is not None or failed:
            break
    return last
