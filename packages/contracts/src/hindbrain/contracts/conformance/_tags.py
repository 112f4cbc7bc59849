"""Tags keep projects apart: on facts and on the observations drawn from them."""

from __future__ import annotations

from typing import Any

from hindbrain.contracts._tags import TagAnd, TagLeaf, TagNot, TagOr, TagsMatch
from hindbrain.contracts._values import FactType
from hindbrain.contracts.conformance._case import case, require
from hindbrain.contracts.conformance._context import RAW, Context, named, says

_ORCHARD = {
    "quince": (),
    "plum": ("row:a",),
    "peach": ("row:b",),
    "cherry": ("row:a", "row:b"),
    "mango": ("row:a", "row:b", "row:c"),
}
_QUESTION = "which trees stand in the orchard"


async def _orchard(ctx: Context) -> str:
    bank = await ctx.new_bank()
    posted = [
        await ctx.retain(bank, f"The orchard has a {tree} tree.", document_id=tree, tags=tags)
        for tree, tags in _ORCHARD.items()
    ]
    for operation_id in posted:
        await ctx.settle(bank, operation_id)
    await ctx.find(bank, _QUESTION, _ORCHARD)
    return bank


async def _expect(ctx: Context, bank: str, trees: str, **filters: Any) -> None:
    wanted = frozenset(trees.split())
    for types in ((FactType.OBSERVATION,), RAW):
        found = named(await ctx.ask(bank, _QUESTION, types=types, **filters), _ORCHARD)
        leaked, lost = sorted(found - wanted), sorted(wanted - found)
        require(not leaked, f"a filter let through what it must keep out ({types[0].value}: {', '.join(leaked)})")
        require(not lost, f"a filter kept out what it must let through ({types[0].value}: {', '.join(lost)})")


@case("a135")
async def tags_any(ctx: Context) -> None:
    """The match ``any`` finds facts with one of the tags, and untagged ones."""
    bank = await _orchard(ctx)
    await _expect(ctx, bank, "quince plum cherry mango", tags=["row:a"], tags_match=TagsMatch.ANY)
    await _expect(ctx, bank, "quince", tags=["row:none"], tags_match=TagsMatch.ANY)


@case("a136")
async def tags_all(ctx: Context) -> None:
    """The match ``all`` finds facts with every one of the tags, and untagged ones."""
    bank = await _orchard(ctx)
    await _expect(ctx, bank, "quince cherry mango", tags=["row:b", "row:a"], tags_match=TagsMatch.ALL)
    await _expect(ctx, bank, "quince", tags=["row:a", "row:none"], tags_match=TagsMatch.ALL)


@case("a137")
async def tags_any_strict(ctx: Context) -> None:
    """The match ``any_strict`` finds facts with one of the tags and never an untagged one."""
    bank = await _orchard(ctx)
    await _expect(ctx, bank, "plum cherry mango", tags=["row:a", "row:none"])
    await _expect(ctx, bank, "", tags=["row:none"], tags_match=TagsMatch.ANY_STRICT)


@case("a138", "a142")
async def tags_all_strict(ctx: Context) -> None:
    """The match ``all_strict`` finds facts with every one of the tags and never an untagged one."""
    bank = await _orchard(ctx)
    await _expect(ctx, bank, "cherry mango", tags=["row:a", "row:b"], tags_match=TagsMatch.ALL_STRICT)
    await _expect(ctx, bank, "", tags=["row:a", "row:none"], tags_match=TagsMatch.ALL_STRICT)


@case("a139", "a140")
async def tags_exact(ctx: Context) -> None:
    """The match ``exact`` finds facts with the same set of tags; with an empty list, untagged facts only."""
    bank = await _orchard(ctx)
    await _expect(ctx, bank, "cherry", tags=["row:b", "row:a"], tags_match=TagsMatch.EXACT)
    await _expect(ctx, bank, "quince", tags=[], tags_match=TagsMatch.EXACT)


@case("a143", "a144")
async def tag_groups_nest(ctx: Context) -> None:
    """Groups of tags combine with and, or and not."""
    bank = await _orchard(ctx)
    a, b, c = (TagLeaf([f"row:{row}"]) for row in "abc")
    await _expect(ctx, bank, "cherry mango", tag_groups=[TagAnd([a, b])])
    await _expect(ctx, bank, "plum peach cherry mango", tag_groups=[TagOr([a, b])])
    await _expect(ctx, bank, "quince peach", tag_groups=[TagNot(a)])
    await _expect(ctx, bank, "plum cherry", tag_groups=[TagAnd([a, TagNot(TagOr([c, TagLeaf(["row:none"])]))])])


@case("a144")
async def several_tag_groups_all_apply(ctx: Context) -> None:
    """Several groups of tags must all hold."""
    bank = await _orchard(ctx)
    groups = [TagLeaf(["row:a"]), TagLeaf(["row:b"], TagsMatch.ANY), TagNot(TagLeaf(["row:c"]))]
    await _expect(ctx, bank, "cherry", tag_groups=groups)


@case("e025")
async def tags_know_case(ctx: Context) -> None:
    """A tag in another case is another tag."""
    bank = await _orchard(ctx)
    await _expect(ctx, bank, "", tags=["Row:A"])


@case("a134", "a157")
async def tags_come_back_whole(ctx: Context) -> None:
    """A fact and its observation bring back the whole set of tags, in whatever order."""
    bank = await _orchard(ctx)
    for types in ((FactType.OBSERVATION,), RAW):
        for fact in (await ctx.ask(bank, _QUESTION, types=types)).facts:
            tree = next((tree for tree in _ORCHARD if says(fact, tree)), "quince")
            require(set(fact.tags) == set(_ORCHARD[tree]), f"the tags of a {types[0].value} did not come back whole")


@case("a089", "a090", "a144")
async def scopes_decide_the_tags_of_observations(ctx: Context) -> None:
    """Scopes give a fact's observations other tags than the fact: one for each row or tag, or none if shared."""
    bank = await ctx.new_bank()
    scopes: dict[str, Any] = {"plum": [["row:a"], ["row:b"]], "peach": "per_tag", "cherry": "shared", "mango": None}
    for tree, wanted in scopes.items():
        text, tags = f"The orchard has a {tree} tree.", ["row:a", "row:b"]
        await ctx.retain_and_settle(bank, text, document_id=tree, tags=tags, observation_scopes=wanted)
    await ctx.find(bank, _QUESTION, scopes)
    expected = {("row:a",): "plum peach", ("row:b",): "plum peach", (): "cherry", ("row:a", "row:b"): "mango"}
    for tags_of_one, trees in expected.items():
        await ctx.find(bank, _QUESTION, trees.split(), tags=tags_of_one, tags_match=TagsMatch.EXACT)
        others = scopes.keys() - set(trees.split())
        await ctx.miss(bank, _QUESTION, others, tags=tags_of_one, tags_match=TagsMatch.EXACT)
    await ctx.find(bank, _QUESTION, scopes, tags=["row:a", "row:b"], tags_match=TagsMatch.EXACT, types=RAW)


CASES = (
    tags_any,
    tags_all,
    tags_any_strict,
    tags_all_strict,
    tags_exact,
    tag_groups_nest,
    several_tag_groups_all_apply,
    tags_know_case,
    tags_come_back_whole,
    scopes_decide_the_tags_of_observations,
)
