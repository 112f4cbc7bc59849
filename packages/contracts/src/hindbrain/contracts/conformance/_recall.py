"""Recall: what is found, in which order, and within which bounds."""

from __future__ import annotations

from itertools import pairwise

from hindbrain.contracts._values import FactType
from hindbrain.contracts.conformance._case import case, require
from hindbrain.contracts.conformance._context import RAW, Context, says

_ALL_TYPES = (None, (FactType.OBSERVATION,), RAW)
_FACTS = 12


@case("a134", "b013")
async def defaults_find_what_was_retained(ctx: Context) -> None:
    """A recall with every setting at its default finds what was retained."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The ferry leaves at dawn.")
    recall = await ctx.find(bank, "when does the ferry leave", ["dawn"])
    require(
        all(fact.id and fact.text and fact.type is FactType.OBSERVATION for fact in recall.facts),
        "a default recall returned something else than observations with an id and a text",
    )


@case("a016")
async def unknown_bank_finds_nothing(ctx: Context) -> None:
    """A recall in a bank that does not exist finds nothing, and is not an error."""
    recall = await ctx.ask(await ctx.new_bank(), "ferry", types=None)
    require(not recall.facts, "a bank that does not exist has facts")


@case()
async def banks_do_not_see_each_other(ctx: Context) -> None:
    """What one bank retained is not found in another."""
    home, other = await ctx.new_bank(), await ctx.new_bank()
    await ctx.retain_and_settle(home, "The ferry leaves at dawn.")
    await ctx.retain_and_settle(other, "The ferry carries mail.")
    await ctx.find(home, "ferry", ["dawn"])
    await ctx.find(other, "ferry", ["mail"])
    for types in _ALL_TYPES:
        await ctx.miss(other, "ferry dawn", ["dawn"], types=types)


@case("a157", "a156")
async def types_are_a_filter(ctx: Context) -> None:
    """A recall returns facts of the asked types only; without types, of every type."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The ferry leaves at dawn.")
    await ctx.find(bank, "ferry", ["dawn"])
    for types in ((FactType.OBSERVATION,), RAW):
        recall = await ctx.find(bank, "ferry", ["dawn"], types=types)
        require(all(fact.type in types for fact in recall.facts), "a recall returned a type that was not asked for")
    found = {fact.type for fact in (await ctx.ask(bank, "ferry", types=None)).facts}
    require(FactType.OBSERVATION in found and found & set(RAW), "a recall without types left a type out")


@case("a157")
async def source_facts_resolve_to_their_document(ctx: Context) -> None:
    """An observation names its source facts; asked for, they come along and name their document."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The ferry leaves at dawn.", document_id="timetable")
    await ctx.find(bank, "ferry", ["dawn"])
    recall = await ctx.ask(bank, "ferry", source_fact_tokens=4096)
    for fact in recall.facts:
        sources = [recall.source_facts.get(source) for source in fact.source_fact_ids]
        require(sources, "an observation names no source fact")
        named = all(source is not None and source.document_id == "timetable" for source in sources)
        require(named, "a source fact did not come along, or does not name its document")
    plain = await ctx.ask(bank, "ferry")
    require(not plain.source_facts, "source facts came along without being asked for")


@case("a134", "a162")
async def scores_do_not_increase(ctx: Context) -> None:
    """Facts come best first: their final scores do not increase."""
    bank = await ctx.new_bank()
    for number, text in enumerate(("The ferry leaves at dawn.", "The ferry is green.", "Dawn comes late.")):
        await ctx.retain_and_settle(bank, text, document_id=f"doc-{number}")
    recall = await ctx.find(bank, "ferry dawn", ["leaves", "green"], types=RAW)
    finals = [fact.scores.final for fact in recall.facts if fact.scores.final is not None]
    require(all(a >= b for a, b in pairwise(finals)), "final scores increase down the list")


@case()
async def more_of_the_question_ranks_first(ctx: Context) -> None:
    """A fact that holds both words of a question comes before facts that hold one."""
    bank = await ctx.new_bank()
    texts = ("The walnut orchard is old.", "The walnut bridge opens at noon.", "The stone bridge is closed.")
    for number, text in enumerate(texts):
        await ctx.retain_and_settle(bank, text, document_id=f"doc-{number}")
    recall = await ctx.find(bank, "walnut bridge", ["noon"], types=RAW)
    require(says(recall.facts[0], "noon"), "a fact with one word of the question came before the one with both")


@case()
async def the_same_question_gets_the_same_answer(ctx: Context) -> None:
    """Asked twice with nothing between, a recall returns the same facts in the same order."""
    bank = await ctx.new_bank()
    for number in range(4):
        await ctx.retain_and_settle(bank, f"The ferry carries crate {number}.", document_id=f"doc-{number}")
    first = await ctx.find(bank, "ferry crate", [f"crate {number}" for number in range(4)], types=RAW)
    second = await ctx.ask(bank, "ferry crate", types=RAW)
    same = [fact.id for fact in first.facts] == [fact.id for fact in second.facts]
    require(same, "the same question got another answer the second time")


@case("a159")
async def a_small_token_bound_still_answers(ctx: Context) -> None:
    """However small the token bound, the best fact is returned."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The ferry leaves at dawn from the northern quay beside the fish market.")
    await ctx.find(bank, "ferry", ["dawn"])
    recall = await ctx.ask(bank, "ferry", max_tokens=5)
    require(len(recall.facts) == 1, f"a bound of 5 tokens returned {len(recall.facts)} facts instead of one")


@case()
async def the_token_bound_limits_the_answer(ctx: Context) -> None:
    """A smaller token bound returns fewer facts."""
    bank = await ctx.new_bank()
    crates = [f"crate{number}x" for number in range(_FACTS)]
    text = "\n".join(f"The ferry carries {crate} from the northern quay to the market." for crate in crates)
    await ctx.retain_and_settle(bank, text)
    every = await ctx.find(bank, "ferry market", crates, types=RAW)
    few = await ctx.ask(bank, "ferry market", types=RAW, max_tokens=40)
    require(0 < len(few.facts) < len(every.facts), "a bound of 40 tokens did not shorten the answer")


CASES = (
    defaults_find_what_was_retained,
    unknown_bank_finds_nothing,
    banks_do_not_see_each_other,
    types_are_a_filter,
    source_facts_resolve_to_their_document,
    scores_do_not_increase,
    more_of_the_question_ranks_first,
    the_same_question_gets_the_same_answer,
    a_small_token_bound_still_answers,
    the_token_bound_limits_the_answer,
)
