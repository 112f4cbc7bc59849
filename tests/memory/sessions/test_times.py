from __future__ import annotations

import pytest

from hindbrain.memory.sessions._time import milliseconds


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("1970-01-01T00:00:00.001Z", 1),
        ("2025-12-09T00:53:29.825Z", 1_765_241_609_825),
        ("2025-12-09T00:53:29.825", 1_765_241_609_825),
        ("2025-12-09T02:53:29.825+02:00", 1_765_241_609_825),
        ("2025-12-09T00:53:29.825999Z", 1_765_241_609_825),
        (1_765_241_609_825, 1_765_241_609_825),
        (1_765_241_609_825.9, 1_765_241_609_825),
        ("0002-01-01T00:00:00Z", -62_104_060_800_000),
        ("9998-12-31T23:59:59.999Z", 253_370_764_799_999),
        ("0001-12-31T23:59:59.999Z", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("9999-12-31T23:59:59-23:59", None),
        (253_370_764_800_000, None),
        (8_640_000_000_000_000, None),
        ("yesterday", None),
        ("2025-13-40T99:00:00Z", None),
        ("", None),
        (-1, None),
        (1e300, None),
        (float("nan"), None),
        (None, None),
    ],
)
def test_times_are_milliseconds_since_1970_utc_or_none(written: float | str | None, read: int | None) -> None:
    assert milliseconds(written) == read
