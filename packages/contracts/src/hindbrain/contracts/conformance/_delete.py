"""Delete: what was forgotten is gone, and nothing else is."""

from __future__ import annotations

from hindbrain.contracts.conformance._case import case, require
from hindbrain.contracts.conformance._context import RAW, Context

_ODD_IDS = (
    "a/b/c",
    "a%2Fb%2Fc",
    "with space and ünï日本",
    "..%2Fescape",
    "../escape",
    "what?like=this#that",
    "abc/chunks",
    "percent%",
    "plus+plus",
)


@case("a179", "a180", "a182")
async def delete_forgets_once(ctx: Context) -> None:
    """A deleted document is not found any more; deleting it again finds nothing."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The cellar holds cider.")
    await ctx.find(bank, "cellar", ["cider"])
    first = await ctx.backend.delete(bank, "doc")
    require(first.found, "a document that exists was not found by delete")
    require(first.facts >= 1, "a delete that took facts says it took none")
    await ctx.miss(bank, "cellar cider", ["cider"], types=RAW)
    again = await ctx.backend.delete(bank, "doc")
    require(not again.found, "a document was found by delete after it was deleted")


@case("b013", "b014", "b015", "b016")
async def delete_takes_its_observations(ctx: Context) -> None:
    """An observation whose only source was deleted goes with it."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The cellar holds cider.")
    await ctx.find(bank, "cellar", ["cider"])
    await ctx.backend.delete(bank, "doc")
    await ctx.miss(bank, "cellar cider", ["cider"])
    await ctx.miss(bank, "cellar cider", ["cider"], types=None)


@case()
async def delete_leaves_the_rest(ctx: Context) -> None:
    """Other documents of the bank, and the same document of another bank, stay."""
    bank, other = await ctx.new_bank(), await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The cellar holds cider.")
    await ctx.retain_and_settle(bank, "The cellar holds pickles.", document_id="doc-2")
    await ctx.retain_and_settle(other, "The cellar holds honey.")
    await ctx.backend.delete(bank, "doc")
    await ctx.find(bank, "cellar", ["pickles"])
    await ctx.find(other, "cellar", ["honey"])


@case("a018", "a180")
async def delete_of_nothing_finds_nothing(ctx: Context) -> None:
    """Deleting in a bank, or a document, that does not exist finds nothing and is not an error."""
    bank = await ctx.new_bank()
    require(not (await ctx.backend.delete(bank, "doc")).found, "delete found a document in a bank that does not exist")
    await ctx.retain_and_settle(bank, "The cellar holds cider.")
    gone = await ctx.backend.delete(bank, "another")
    require(not gone.found, "delete found a document that does not exist")


@case()
async def a_deleted_document_can_come_again(ctx: Context) -> None:
    """A document may be retained anew after it was deleted, under a new operation id."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The cellar holds cider.")
    await ctx.backend.delete(bank, "doc")
    await ctx.retain_and_settle(bank, "The cellar holds pickles.")
    await ctx.find(bank, "cellar", ["pickles"])
    await ctx.miss(bank, "cellar cider", ["cider"], types=RAW)


@case("a184", "a185", "a186", "a187", "a189")
async def document_ids_are_opaque(ctx: Context) -> None:
    """Slashes, dots, percent signs, spaces and any script in a document id name exactly that document."""
    bank = await ctx.new_bank()
    posted = [
        await ctx.retain(bank, f"The cellar shelf holds jar{number}x.", document_id=document_id)
        for number, document_id in enumerate(_ODD_IDS)
    ]
    for operation_id in posted:
        await ctx.settle(bank, operation_id)
    words = [f"jar{number}x" for number in range(len(_ODD_IDS))]
    recall = await ctx.find(bank, "cellar shelf jar", words, types=RAW)
    returned = {fact.document_id for fact in recall.facts}
    require(returned == set(_ODD_IDS), "a document id did not come back as it was given")
    for number, document_id in enumerate(_ODD_IDS):
        require(
            (await ctx.backend.delete(bank, document_id)).found, f"delete did not find the document {document_id!r}"
        )
        await ctx.miss(bank, f"cellar shelf jar{number}x", words[: number + 1], types=RAW)
        if words[number + 1 :]:
            await ctx.find(bank, "cellar shelf jar", words[number + 1 :], types=RAW)


CASES = (
    delete_forgets_once,
    delete_takes_its_observations,
    delete_leaves_the_rest,
    delete_of_nothing_finds_nothing,
    a_deleted_document_can_come_again,
    document_ids_are_opaque,
)
