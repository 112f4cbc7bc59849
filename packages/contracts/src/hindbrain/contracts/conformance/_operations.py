"""Retain and status: one id is one operation."""

from __future__ import annotations

import asyncio

from hindbrain.contracts._errors import BackendError
from hindbrain.contracts._values import OperationStatus, RetainItem
from hindbrain.contracts.conformance._case import case, fail, require
from hindbrain.contracts.conformance._context import RAW, Context, says

_POSTS = 12


@case("a047", "a044")
async def retain_comes_to_completed(ctx: Context) -> None:
    """A retain is acknowledged with an operation id whose status comes to completed, and says so again."""
    bank = await ctx.new_bank()
    item = RetainItem(content="The granary keeps barley.", document_id="doc")
    retained = await ctx.backend.retain(bank, item, operation_id=ctx.operation_id())
    require(retained.operation_id, "the acknowledgement names no operation")
    first = await ctx.settle(bank, retained.operation_id)
    again = await ctx.backend.status(bank, retained.operation_id)
    require(first.operation_id == retained.operation_id, "the status names another operation than was asked for")
    require(again.status is OperationStatus.COMPLETED, "a completed operation changed its status")


@case("a112", "a115", "b001")
async def unknown_operation_is_not_found(ctx: Context) -> None:
    """An operation id that this bank does not know is not_found, not an error, even if another bank knows it."""
    home, other = await ctx.new_bank(), await ctx.new_bank()
    operation_id = await ctx.retain(home, "The granary keeps barley.")
    await ctx.settle(home, operation_id)
    for bank, asked in ((home, ctx.operation_id()), (other, operation_id)):
        status = (await ctx.backend.status(bank, asked)).status
        require(status is OperationStatus.NOT_FOUND, f"an operation the bank does not know is {status.value}")


@case("a048", "a049", "a050", "a051")
async def same_id_does_nothing_new(ctx: Context) -> None:
    """The same operation id in the same bank is the same operation, whatever the item then says."""
    bank, operation_id = await ctx.new_bank(), ctx.operation_id()
    first = RetainItem(content="The granary keeps barley.", document_id="doc")
    await ctx.backend.retain(bank, first, operation_id=operation_id)
    await ctx.settle(bank, operation_id)
    for other in ("doc", "extra"):
        item = RetainItem(content="The granary burns turnips.", document_id=other)
        again = await ctx.backend.retain(bank, item, operation_id=operation_id)
        require(again.operation_id == operation_id, "the same id was acknowledged as another operation")
        await ctx.settle(bank, operation_id)
    await ctx.find(bank, "granary", ["barley"], types=RAW)
    await ctx.miss(bank, "granary turnips", ["turnips"], types=None)


@case("a055")
async def upper_case_id_is_the_same_id(ctx: Context) -> None:
    """Upper and lower case write the same operation id."""
    bank, operation_id = await ctx.new_bank(), ctx.operation_id()
    first = RetainItem(content="The granary keeps barley.", document_id="doc")
    await ctx.backend.retain(bank, first, operation_id=operation_id)
    await ctx.settle(bank, operation_id)
    item = RetainItem(content="The granary burns turnips.", document_id="doc")
    again = await ctx.backend.retain(bank, item, operation_id=operation_id.upper())
    require(again.operation_id == operation_id, "an id in upper case was taken for another one")
    await ctx.settle(bank, operation_id.upper())
    await ctx.miss(bank, "granary turnips", ["turnips"], types=None)


@case("a052", "c052")
async def id_of_another_bank_is_a_conflict(ctx: Context) -> None:
    """An operation id that another bank used is refused with the code ``conflict``, and nothing is stored."""
    home, other, operation_id = await ctx.new_bank(), await ctx.new_bank(), ctx.operation_id()
    item = RetainItem(content="The granary keeps barley.", document_id="doc")
    await ctx.backend.retain(home, item, operation_id=operation_id)
    await ctx.settle(home, operation_id)
    try:
        await ctx.backend.retain(other, item, operation_id=operation_id)
    except BackendError as error:
        require(error.code == "conflict", f"an id of another bank is refused as '{error.code}', not as a conflict")
    else:
        fail("an operation id that another bank used was accepted")
    status = (await ctx.backend.status(other, operation_id)).status
    require(status is OperationStatus.NOT_FOUND, f"the refused operation is {status.value} in the second bank")
    await ctx.miss(other, "granary barley", ["barley"], types=None)


@case("e001")
async def parallel_posts_of_one_id_are_one_operation(ctx: Context) -> None:
    """Twelve posts of one operation id at once are all acknowledged as one operation, which runs once."""
    bank, operation_id = await ctx.new_bank(), ctx.operation_id()
    item = RetainItem(content="The granary keeps barley.", document_id="doc")
    posts = [ctx.backend.retain(bank, item, operation_id=operation_id) for _ in range(_POSTS)]
    ids = {retained.operation_id for retained in await asyncio.gather(*posts)}
    require(len(ids) == 1, f"parallel posts of one id were acknowledged as {len(ids)} operations")
    await ctx.settle(bank, operation_id)
    recall = await ctx.find(bank, "granary", ["barley"], types=RAW)
    count = sum(says(fact, "barley") for fact in recall.facts)
    require(count == 1, f"parallel posts of one id left {count} facts instead of one")


@case()
async def posts_at_once_all_complete(ctx: Context) -> None:
    """Retains of different documents posted at once all complete, and all are found."""
    bank = await ctx.new_bank()
    words = ("barley", "turnip", "carrot", "radish", "fennel", "celery")
    posts = [ctx.retain(bank, f"The granary keeps {word}.", document_id=word) for word in words]
    for operation_id in await asyncio.gather(*posts):
        await ctx.settle(bank, operation_id)
    await ctx.find(bank, "what does the granary keep", words, types=RAW)


@case()
async def a_cancelled_retain_can_be_repeated(ctx: Context) -> None:
    """A retain whose caller gave up halfway is completed by posting it again, and is stored once."""
    bank, operation_id = await ctx.new_bank(), ctx.operation_id()
    item = RetainItem(content="The granary keeps barley.", document_id="doc")
    for turns in range(_POSTS):
        post = asyncio.ensure_future(ctx.backend.retain(bank, item, operation_id=operation_id))
        for _ in range(turns):
            await asyncio.sleep(0)
        post.cancel()
        await asyncio.wait([post])
    await ctx.backend.retain(bank, item, operation_id=operation_id)
    await ctx.settle(bank, operation_id)
    recall = await ctx.find(bank, "granary", ["barley"], types=RAW)
    count = sum(says(fact, "barley") for fact in recall.facts)
    require(count == 1, f"a retain that was cancelled and repeated left {count} facts instead of one")


CASES = (
    retain_comes_to_completed,
    unknown_operation_is_not_found,
    same_id_does_nothing_new,
    upper_case_id_is_the_same_id,
    id_of_another_bank_is_a_conflict,
    parallel_posts_of_one_id_are_one_operation,
    posts_at_once_all_complete,
    a_cancelled_retain_can_be_repeated,
)
