"""The shim's two files are checked by the strict compiler against the types of the host that loads them."""

import pytest
from _pinned.check import faults


@pytest.mark.timeout(600)
def test_the_shim_fits_the_types_of_its_host(host: str) -> None:
    assert faults(host) == []


@pytest.mark.timeout(600)
def test_a_mistake_against_the_types_of_a_host_is_found(host: str) -> None:
    found = faults(host, 'export const wrong = (pi: ExtensionAPI) => pi.on("contxt", () => undefined);\n')
    assert found[0].startswith("index.ts(")
    assert " error TS" in found[0]
