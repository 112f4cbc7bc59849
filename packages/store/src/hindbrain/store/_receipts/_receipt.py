"""One receipt, and the list of the newest: pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from attrs import field, frozen

from hindbrain.contracts import UpdateMode, scrub
from hindbrain.store._flush import Delivery
from hindbrain.store._receipts._outcome import RetainOutcome, outcome_of

KEPT = 50
"""How many receipts are kept. Source: spec/memory.md section 8."""
CONTEXT_LENGTH = 1_000
_CUT = "…"


class RetainSource(StrEnum):
    """Who asked for the retain."""

    TOOL = "tool"
    """Somebody by hand: a tool, or a command."""
    IMPORT = "import"
    QUEUE = "queue"
    """The automatic retain, and whatever else went through the queue."""


_SOURCES = {"tool": RetainSource.TOOL, "command": RetainSource.TOOL, "import": RetainSource.IMPORT}


def source_of(delivery: Delivery) -> RetainSource:
    """Who asked, by the ``retainSource`` that the job's metadata names; the queue where it names none of them."""
    return _SOURCES.get(delivery.job.item.metadata.get("retainSource", ""), RetainSource.QUEUE)


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(scrub(tag) for tag in tags)


def _context(context: str | None) -> str | None:
    if context is None:
        return None
    clean = scrub(context)
    # A context that was read back has its mark already.
    cut = clean.removesuffix(_CUT)
    return cut[:CONTEXT_LENGTH] + _CUT if len(cut) > CONTEXT_LENGTH else clean


@frozen(kw_only=True)
class RetainReceipt:
    """What is known about the newest retain of one document: no content, no metadata.

    ``created_at`` is ISO 8601, when the backend took it. ``context`` is scrubbed and cut to 1 000 characters and a
    mark, ``tags`` are scrubbed. ``outcome`` is None where the backend tells none.

    Source: spec/memory.md section 8; S0-receipts-006.
    """

    created_at: str
    bank: str
    document_id: str
    job_id: str
    update_mode: UpdateMode
    source: RetainSource
    context: str | None = field(default=None, converter=_context)
    tags: tuple[str, ...] = field(default=(), converter=_tags)
    outcome: RetainOutcome | None = None

    @classmethod
    def of(cls, delivery: Delivery, source: RetainSource) -> RetainReceipt:
        """The receipt of a job that the backend took."""
        item = delivery.job.item
        return cls(
            created_at=delivery.at,
            bank=delivery.job.bank,
            document_id=item.document_id,
            job_id=delivery.job.id,
            update_mode=item.update_mode,
            source=source,
            context=item.context,
            tags=item.tags,
            outcome=outcome_of(delivery.retained),
        )


def record(receipts: tuple[RetainReceipt, ...], receipt: RetainReceipt) -> tuple[RetainReceipt, ...]:
    """The receipts with one more in front: one a document of a bank, at most ``KEPT``.

    The order is that of recording, whatever the clock says.
    """
    others = tuple(each for each in receipts if _document(each) != _document(receipt))
    return (receipt, *others)[:KEPT]


def find(receipts: Iterable[RetainReceipt], bank: str, document_id: str) -> RetainReceipt | None:
    """The receipt of a document, or None."""
    return next((each for each in receipts if _document(each) == (bank, document_id)), None)


def _document(receipt: RetainReceipt) -> tuple[str, str]:
    return receipt.bank, receipt.document_id
