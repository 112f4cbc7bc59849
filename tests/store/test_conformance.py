"""The embedded backend keeps every rule of the port."""

from __future__ import annotations

import pytest

from hindbrain.contracts import Backend
from hindbrain.contracts.conformance import CASES, Case, Context
from hindbrain.store import EmbeddedBackend


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_embedded_backend_keeps_the_rule(case: Case, backend: EmbeddedBackend) -> None:
    await case.check(Context(backend, deadline=10))


def test_it_is_a_backend(backend: EmbeddedBackend) -> None:
    assert isinstance(backend, Backend)
