"""What tells of a person goes on request only; what merely looks so stays."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hindbrain.contracts import Scrubbed, scrub, scrub_counted

BODY = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ"


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("mail bob.b+x@mail.example.com, please", "mail [REDACTED:email], please"),
        ("<bob@example.com>", "<[REDACTED:email]>"),
        ("pay 4111 1111 1111 1111 now", "pay [REDACTED:payment-card] now"),
        ("pay 4111-1111-1111-1111 now", "pay [REDACTED:payment-card] now"),
        ("pay 378282246310005 now", "pay [REDACTED:payment-card] now"),
        ("pay 5555555555554444.", "pay [REDACTED:payment-card]."),
        ("pay 6011111111111117", "pay [REDACTED:payment-card]"),
        ("IBAN DE89 3704 0044 0532 0130 00 it is", "IBAN [REDACTED:iban] it is"),
        ("GB29NWBK60161331926819", "[REDACTED:iban]"),
        ("ssn 219-09-9999 here", "ssn [REDACTED:social-security] here"),
        ("call +49 30 1234567 or", "call [REDACTED:phone] or"),
        ("call +1 (415) 555-2671", "call [REDACTED:phone]"),
        ("call (415) 555-2671 or", "call [REDACTED:phone] or"),
        ("call 415-555-2671", "call [REDACTED:phone]"),
        ("call 030 1234 567", "call [REDACTED:phone]"),
    ],
)
def test_personal_data_is_named_and_goes_on_request_only(text: str, scrubbed: str) -> None:
    assert scrub(text) == text
    assert scrub(text, pii=True) == scrubbed
    assert scrub(scrubbed, pii=True) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T12:00:00Z 2026-03-01 12:00:00 01.03.2026 1772366400 1772366400123 20260301120000",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "93e33487-6c92-5880-9b29-dc86689d9c26",
        "git@github.com:luxus/finalform.git",
        "npm i @scope/pkg@1.2.3 left@1.0.0-rc.1",
        "4111 1111 1111 1112",
        "4444444444444444",
        "9111111111111111 1234567890123452",
        "DE89 3704 0044 0532 0130 01",
        "000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000 v219-09-9999",
        "192.168.100.200 10.0.0.1 1.2.3.4",
        "line 12345678, 115-555-2671, 3.1415926535, x+4930123456789",
    ],
)
def test_dates_epochs_hashes_versions_and_wrong_check_digits_survive(text: str) -> None:
    assert scrub(text, pii=True) == text


def test_a_secret_counts_before_a_person() -> None:
    text = f"bob@example.com ann@example.com https://u:pa55@h.example gh{'p_'}{BODY} token: gh{'p_'}{BODY}"
    assert scrub_counted(text).counts == {"password": 1, "github-token": 2}
    assert scrub_counted(text, pii=True).counts == {"password": 1, "github-token": 2, "email": 2}


def test_counting_gives_the_text_that_scrubbing_gives_and_hides_it_in_a_repr() -> None:
    text = "mail bob@example.com API_TOKEN=abc12345"
    counted = scrub_counted(text, pii=True)
    assert counted == Scrubbed(scrub(text, pii=True), {"email": 1, "credential": 1})
    assert "API_TOKEN" not in repr(counted)


def test_a_text_without_secrets_counts_none_and_one_with_counts_none_the_second_time() -> None:
    assert scrub_counted("nothing here").counts == {}
    assert scrub_counted(scrub(f"gh{'p_'}{BODY}")).counts == {}


def test_importing_the_package_reads_no_rule() -> None:
    code = "import sys, hindbrain.contracts; print([m for m in sys.modules if '_scrub_' in m])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
