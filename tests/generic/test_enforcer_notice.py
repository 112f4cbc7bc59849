from __future__ import annotations

import pytest

from hindbrain.generic._observe._notices import RunNotices
from hindbrain.observe import ConsolidationRun


@pytest.mark.req("S4-enforcer-011")
@pytest.mark.parametrize("routine", [True, False])
@pytest.mark.parametrize(("count", "words"), [(12, "12 observations"), (1, "1 observation ")])
def test_what_left_memory_without_a_model_is_told_with_its_number_whatever_is_hidden(
    routine: bool, count: int, words: str
) -> None:
    ((text, level),) = RunNotices(routine=routine).of(ConsolidationRun(run_id="r", reclaimed=count))
    assert words in text
    assert level == "info"
