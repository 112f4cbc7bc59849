"""Awkward input: refused before anything happens, or taken as plain text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from hindbrain.contracts._errors import BackendError, BackendRequestError
from hindbrain.contracts._values import RecallQuery, RetainItem
from hindbrain.contracts.conformance._case import case, fail, require
from hindbrain.contracts.conformance._context import Context

_BAD_BANKS = ("", "a/b", "../x", "a b", "-x", "x" * 129, "bänk", "x\n")
_BAD_OPERATIONS = ("", "nope", "{2de40b13-52e9-41d7-877e-8d3fc4a21637}", "2de40b1352e941d7877e8d3fc4a21637", "../x")
_BAD_DOCUMENTS = ("", " ", ".", "..", "a\nb", "x" * 513)
_SYNTAX = (
    '"heron* OR NEAR(',
    'heron"',
    "(heron",
    "heron)",
    "heron AND",
    "NOT heron",
    "-heron nests",
    "^heron",
    "text:heron",
    "heron & ! | <->",
    "'; DROP TABLE facts; -- heron",
    "heron {} [] \\ % _ \x00",
)
_LONG = 10_000
Call = Callable[[], Awaitable[object]]


@case()
async def bad_ids_are_refused_first(ctx: Context) -> None:
    """A bank, operation or document id without its form is refused before anything is sent or stored."""
    bank, good = await ctx.new_bank(), ctx.operation_id()
    item = RetainItem(content="The heron nests.", document_id="doc")
    query = RecallQuery(text="heron", types=None)
    backend = ctx.backend
    for bad in _BAD_BANKS:
        await _refused(partial(backend.retain, bad, item, operation_id=good), "retain", "bank")
        await _refused(partial(backend.status, bad, good), "status", "bank")
        await _refused(partial(backend.recall, bad, query), "recall", "bank")
        await _refused(partial(backend.delete, bad, "doc"), "delete", "bank")
    for bad in _BAD_OPERATIONS:
        await _refused(partial(backend.retain, bank, item, operation_id=bad), "retain", "operation")
        await _refused(partial(backend.status, bank, bad), "status", "operation")
    for bad in _BAD_DOCUMENTS:
        await _refused(partial(backend.delete, bank, bad), "delete", "document")
    await ctx.miss(bank, "heron", ["heron"], types=None)


async def _refused(call: Call, verb: str, what: str) -> None:
    try:
        await call()
    except BackendRequestError:
        return
    fail(f"{verb} took a {what} id that has not its form")


@case("a150", "a151")
async def a_question_without_a_word_finds_nothing(ctx: Context) -> None:
    """A query of punctuation, emoji or nothing finds nothing, and is not an error."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The heron nests by the river.")
    await ctx.find(bank, "heron", ["river"])
    for text in ("", "   ", "?!...", "🦩", "\u3000。"):
        require(not (await ctx.ask(bank, text, types=None)).facts, "a query without a word found something")


@case("a153")
async def a_long_question_is_safe(ctx: Context) -> None:
    """A query of ten thousand characters is answered."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The heron nests by the river.")
    await ctx.find(bank, ("heron nests " * _LONG)[:_LONG], ["river"])


@case()
async def query_syntax_is_plain_text(ctx: Context) -> None:
    """Operators, quotes and brackets of any query language are plain text, and the words beside them are found."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "The heron nests by the river.")
    for text in _SYNTAX:
        await ctx.find(bank, text, ["river"])


@case()
async def two_cjk_characters_find_their_text(ctx: Context) -> None:
    """Two characters of a script without spaces find the sentence they stand in."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "那座灯塔在海边。")
    for two in ("灯塔", "海边"):
        await ctx.find(bank, two, ["灯塔"])


@case("e002", "e003", "e005")
async def a_text_without_facts_completes(ctx: Context) -> None:
    """A text that yields no fact completes, and its document can be deleted."""
    bank = await ctx.new_bank()
    await ctx.retain_and_settle(bank, "...")
    require((await ctx.backend.delete(bank, "doc")).found, "a document without facts was not found by delete")


@case()
async def a_closed_backend_refuses(ctx: Context) -> None:
    """After close, which may be called twice, each verb raises an error of the port."""
    bank, operation_id = await ctx.new_bank(), ctx.operation_id()
    await ctx.backend.close()
    await ctx.backend.close()
    item = RetainItem(content="The heron nests.", document_id="doc")
    calls: tuple[Call, ...] = (
        partial(ctx.backend.retain, bank, item, operation_id=operation_id),
        partial(ctx.backend.status, bank, operation_id),
        partial(ctx.backend.recall, bank, RecallQuery(text="heron")),
        partial(ctx.backend.delete, bank, "doc"),
    )
    for call in calls:
        try:
            await call()
        except BackendError:
            continue
        fail("a verb worked after close")


CASES = (
    bad_ids_are_refused_first,
    a_question_without_a_word_finds_nothing,
    a_long_question_is_safe,
    query_syntax_is_plain_text,
    two_cjk_characters_find_their_text,
    a_text_without_facts_completes,
    a_closed_backend_refuses,
)
