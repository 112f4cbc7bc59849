"""Running the cases without a test framework."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from attrs import frozen

from hindbrain.contracts._backend import Backend
from hindbrain.contracts._errors import HindbrainError, InvalidValueError
from hindbrain.contracts.conformance import _delete, _documents, _operations, _recall, _safety, _tags
from hindbrain.contracts.conformance._case import Case, ConformanceFailure, Skip
from hindbrain.contracts.conformance._context import Context, fresh_bank

CASES: tuple[Case, ...] = (
    *_operations.CASES,
    *_documents.CASES,
    *_recall.CASES,
    *_tags.CASES,
    *_delete.CASES,
    *_safety.CASES,
)
"""Every rule of the port. Names are stable; a new one is a minor release."""


@frozen
class Result:
    """How one case ended: ``outcome`` is passed, failed or skipped, and ``detail`` a sentence where it did not pass."""

    case: str
    outcome: str
    detail: str = ""


@frozen
class Report:
    """How all cases ended, in their order."""

    results: tuple[Result, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    @property
    def failures(self) -> tuple[Result, ...]:
        """The cases whose rule is broken."""
        return tuple(result for result in self.results if result.outcome == "failed")

    def __str__(self) -> str:
        return "\n".join(f"{r.outcome:8}{r.case}{': ' if r.detail else ''}{r.detail}" for r in self.results)


async def run(
    make_backend: Callable[[], Awaitable[Backend]],
    *,
    skips: Iterable[Skip] = (),
    new_bank: Callable[[], Awaitable[str]] = fresh_bank,
    deadline: float = 30.0,
    cases: Iterable[Case] = CASES,
) -> Report:
    """Check a backend, one case after the other, each with a backend of its own that is closed afterwards.

    Args:
        make_backend: makes the backend; called once a case.
        skips: cases left out, each with the server recording that justifies it.
        new_bank: names an unused bank.
        deadline: seconds one case may take.
        cases: the cases to check.

    Raises:
        InvalidValueError: a skip names no case.
    """
    chosen = tuple(cases)
    left_out = {skip.case: skip for skip in skips}
    if left_out.keys() - {case.name for case in chosen}:
        raise InvalidValueError("skips", "names of cases that are checked")
    results: list[Result] = []
    for case in chosen:
        if skip := left_out.get(case.name):
            results.append(Result(case.name, "skipped", f"{skip.reason} ({skip.capture})"))
            continue
        backend = await make_backend()
        try:
            results.append(await _check(case, Context(backend, new_bank=new_bank, deadline=deadline)))
        finally:
            await backend.close()
    return Report(tuple(results))


async def _check(case: Case, ctx: Context) -> Result:
    try:
        await case.check(ctx)
    except ConformanceFailure as failure:
        return Result(case.name, "failed", str(failure))
    except HindbrainError as error:
        return Result(case.name, "failed", f"the backend raised '{error.code}': {error}")
    except Exception as error:  # noqa: BLE001 - whatever a foreign backend raises is a finding, not the runner's end
        return Result(case.name, "failed", f"the backend raised {type(error).__name__}, which the port does not allow")
    return Result(case.name, "passed")
