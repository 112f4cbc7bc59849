"""Documents: replace, append, order, and what a fact keeps of its text."""

from __future__ import annotations

import json
from datetime import datetime

from hindbrain.contracts._values import UpdateMode
from hindbrain.contracts.conformance._case import case, fail, require
from hindbrain.contracts.conformance._context import RAW, Context, says

_SENTENCES = 60


@case("a066", "a067")
async def replace_replaces(ctx: Context) -> None:
    """A replace takes the place of the document's text, facts and tags."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The lantern burns whale oil.", tags=["lamp:old"])
    await ctx.retain_and_settle(bank, "The lantern burns kerosene.", tags=["lamp:new"])
    recall = await ctx.find(bank, "lantern", ["kerosene"], types=RAW)
    require(all(set(fact.tags) == {"lamp:new"} for fact in recall.facts), "a replace left the old tags")
    await ctx.find(bank, "lantern", ["kerosene"])
    await ctx.miss(bank, "lantern whale oil", ["whale"], types=None)


@case("a068", "a069")
async def same_text_again_changes_nothing(ctx: Context) -> None:
    """The same text for the same document under a new operation id leaves one fact, not two."""
    bank = await ctx.new_bank()
    for _ in range(2):
        await ctx.retain_and_settle(bank, "The lantern burns kerosene.")
    recall = await ctx.find(bank, "lantern", ["kerosene"], types=RAW)
    require(len(recall.facts) == 1, f"the same text twice left {len(recall.facts)} facts")


@case("a063", "a064")
async def append_keeps_what_was_there(ctx: Context) -> None:
    """An append adds to the document and keeps its older facts."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The lantern burns kerosene.")
    await ctx.retain_and_settle(bank, "The lantern hangs aloft.", update_mode=UpdateMode.APPEND)
    recall = await ctx.find(bank, "lantern", ["kerosene", "aloft"], types=RAW)
    require({fact.document_id for fact in recall.facts} == {"doc"}, "an append made another document")


@case("a065")
async def append_overwrites_tags_and_metadata(ctx: Context) -> None:
    """An append gives its tags and metadata to every fact and observation of the document: the older ones are lost."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The lantern burns kerosene.", tags=["t:one"], metadata={"a": "1"})
    await ctx.retain_and_settle(
        bank, "The lantern hangs aloft.", tags=["t:two"], metadata={"b": "2"}, update_mode=UpdateMode.APPEND
    )
    recall = await ctx.find(bank, "lantern", ["kerosene", "aloft"], types=RAW)
    for fact in recall.facts:
        require(set(fact.tags) == {"t:two"}, "an append left other tags than its own on a fact of the document")
        require(dict(fact.metadata) == {"b": "2"}, "an append left other metadata than its own on a fact")
    await ctx.find(bank, "lantern", ["kerosene", "aloft"], tags=["t:two"])
    await ctx.miss(bank, "lantern", ["kerosene", "aloft"], tags=["t:one"], types=None)


@case("a071")
async def append_to_nothing_creates_the_document(ctx: Context) -> None:
    """An append to a document that does not exist makes it."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The lantern hangs aloft.", update_mode=UpdateMode.APPEND)
    await ctx.find(bank, "lantern", ["aloft"], types=RAW)


@case("b022", "b023", "b024")
async def retains_of_one_document_run_in_order(ctx: Context) -> None:
    """Two retains of one document, posted one after the other without waiting, run in that order."""
    bank = await ctx.new_bank()
    first = await ctx.retain(bank, "The lantern burns whale oil.")
    second = await ctx.retain(bank, "The lantern burns kerosene.")
    await ctx.settle(bank, first)
    await ctx.settle(bank, second)
    await ctx.find(bank, "lantern", ["kerosene"], types=RAW)
    await ctx.miss(bank, "lantern whale oil", ["whale"], types=RAW)


@case("a038", "a162")
async def context_metadata_and_time_come_back(ctx: Context) -> None:
    """A fact brings back its document, context, metadata as strings, and the instant it was mentioned."""
    bank, at, metadata = await ctx.new_bank(), "2026-03-01T12:30:00+02:00", {"source": "pi", "n": "1", "city": "Zürich"}
    await ctx.retain_and_settle(
        bank, "The lantern burns kerosene.", context="harbour log", timestamp=at, metadata=metadata
    )
    fact = (await ctx.find(bank, "lantern", ["kerosene"], types=RAW)).facts[0]
    require(fact.document_id == "doc", "a fact does not name its document")
    require(fact.context == "harbour log", "the context did not come back")
    require(dict(fact.metadata) == metadata, "the metadata did not come back as it was")
    if fact.mentioned_at is None:
        fail("the time of the text did not come back")
    same = datetime.fromisoformat(fact.mentioned_at) == datetime.fromisoformat(at)
    require(same, "the time of the text came back as another instant")


@case()
async def unicode_comes_back_unharmed(ctx: Context) -> None:
    """Accents, CJK, combining marks and joined emoji come back as they were retained."""
    bank, oddities = await ctx.new_bank(), ("façade", "日本語", "e\u0301", "🦩", "👩\u200d💻", "\U0001d518")
    await ctx.retain_and_settle(bank, f"The lantern shows {' and '.join(oddities)} aloft.")
    fact = (await ctx.find(bank, "lantern aloft", ["aloft"], types=RAW)).facts[0]
    harmed = [f"U+{ord(text[0]):04X}" for text in oddities if not says(fact, text)]
    require(not harmed, f"characters did not come back: {', '.join(harmed)}")


@case()
async def structured_turns_are_findable(ctx: Context) -> None:
    """A session written as a JSON array of turns is found by the words of each turn."""
    bank = await ctx.new_bank()
    turns = [
        {"role": "user", "content": "Please trim the lantern wick.", "timestamp": "2026-03-01T10:00:00Z"},
        {"role": "assistant", "content": [{"type": "text", "text": "The lantern wick is trimmed with shears."}]},
    ]
    await ctx.retain_and_settle(bank, json.dumps(turns))
    await ctx.find(bank, "lantern wick", ["Please", "shears"], types=RAW)


@case()
async def the_end_of_a_long_text_is_findable(ctx: Context) -> None:
    """A text of several pages is found by its last sentence too."""
    bank = await ctx.new_bank()
    filler = "a line of the harbour log that says nothing of weight and only fills the page as such lines will"
    lines = [f"Entry {number} is {filler}." for number in range(_SENTENCES)]
    await ctx.retain_and_settle(bank, "\n".join([*lines, "The lantern burns kerosene."]))
    await ctx.find(bank, "lantern kerosene", ["kerosene"], types=RAW)


CASES = (
    replace_replaces,
    same_text_again_changes_nothing,
    append_keeps_what_was_there,
    append_overwrites_tags_and_metadata,
    append_to_nothing_creates_the_document,
    retains_of_one_document_run_in_order,
    context_metadata_and_time_come_back,
    unicode_comes_back_unharmed,
    structured_turns_are_findable,
    the_end_of_a_long_text_is_findable,
)
