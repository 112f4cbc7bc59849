import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import BackendRequestError, check_bank, check_document_id, check_operation_id

UUID = "93e33487-6c92-5880-9b29-dc86689d9c26"


@pytest.mark.parametrize("bank", ["a", "0", "coding-agent::repo", "A.b_c-9", "x" * 128])
def test_a_bank_id_is_returned_unchanged(bank: str) -> None:
    assert check_bank(bank) == bank


@pytest.mark.parametrize(
    "bank", ["", "x" * 129, "-a", ".a", "a b", "a/b", "a%2Fb", "..", "bänk", "a\n", "\na", "a\x00", None, 5, b"a"]
)
def test_a_bank_id_without_its_form_is_refused(bank: Any) -> None:
    with pytest.raises(BackendRequestError, match="bank id is refused and nothing was sent"):
        check_bank(bank)


def test_the_strict_form_of_a_bank_id_has_no_colon() -> None:
    assert check_bank("a.b", strict=True) == "a.b"
    with pytest.raises(BackendRequestError) as refused:
        check_bank("a:b", strict=True)
    assert ":" not in refused.value.next_step


def test_an_operation_id_is_returned_in_lower_case() -> None:
    assert check_operation_id(UUID.upper()) == UUID


@pytest.mark.parametrize(
    "operation_id",
    [
        "",
        "nope",
        UUID[:-1],
        UUID + "0",
        "{" + UUID + "}",
        UUID.replace("-", ""),
        "urn:uuid:" + UUID,
        UUID + "\n",
        None,
        5,
    ],
)
def test_an_operation_id_that_is_no_canonical_uuid_is_refused(operation_id: Any) -> None:
    with pytest.raises(BackendRequestError, match="operation id is refused"):
        check_operation_id(operation_id)


@pytest.mark.parametrize("document_id", ["a", "a/b", "a%2Fb", "..%2Fx", "...", " a ", "ü日🙂", "x" * 512])
def test_a_document_id_is_returned_unchanged(document_id: str) -> None:
    assert check_document_id(document_id) == document_id


@pytest.mark.parametrize(
    "document_id", ["", " ", "\u3000", ".", "..", "x" * 513, "a\nb", "a\x00", "a\x7f", "\x85", "a\ud800", None, 5]
)
def test_a_document_id_that_cannot_name_one_document_is_refused(document_id: Any) -> None:
    with pytest.raises(BackendRequestError, match="document id is refused"):
        check_document_id(document_id)


@given(st.text())
def test_a_refused_id_is_never_repeated_in_the_message(text: str) -> None:
    for check in (check_bank, check_operation_id, check_document_id):
        secret = f"Xq7{text}\n"
        with pytest.raises(BackendRequestError) as refused:
            check(secret)
        assert "Xq7" not in str(refused.value)


@given(st.text(max_size=140))
def test_only_what_matches_the_whole_pattern_is_a_bank_id(text: str) -> None:
    try:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:\-]{0,127}", check_bank(text), re.ASCII)
    except BackendRequestError:
        assert not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:\-]{0,127}", text)
