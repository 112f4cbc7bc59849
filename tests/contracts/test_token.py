"""Token policies, the form of a token, and a secret that does not show itself."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import (
    EnvToken,
    KeyringToken,
    NoAuth,
    Secret,
    TokenError,
    TokenFile,
    check_token,
    check_token_name,
)


@pytest.mark.req("S2-auth-004")
@pytest.mark.parametrize(
    "name", ["HINDSIGHT_API_TOKEN", "_K", "A" * 128, "K2", "SHA256_TOKEN", "SK_PRODUCTION_KEY", "MY_HINDSIGHT2_TOKEN"]
)
def test_a_variable_name_is_accepted_unchanged(name: str) -> None:
    assert check_token_name(name) == name
    assert EnvToken(name).name == name


@pytest.mark.req("S2-auth-004")
@pytest.mark.parametrize(
    "name",
    [
        "",
        "hindsight_key",
        "1KEY",
        "A-B",
        "A" * 129,
        "KEY\n",
        " KEY",
        "K\u00c9Y",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "ASIA" + "Q2" * 8,
        "GHP_" + "A1B2" * 9,
        "SK_LIVE_" + "AB12" * 6,
        "AIZA" + "B" * 35,
        "JBSWY3DPEHPK3PXP",
        "X_0123456789012345",
        "sk-" + "a1" * 20,
        "ghp_" + "aB3" * 12,
        "EYJ" + "ABC" * 10,
    ],
)
def test_another_name_or_a_pasted_key_is_refused_without_echo(name: str) -> None:
    with pytest.raises(TokenError) as caught:
        EnvToken(name)
    message = str(caught.value)
    assert "hindsight.apiKeyEnv" in message
    assert "HINDSIGHT_API_TOKEN" in message
    assert len(name) < 3 or name.strip() not in message


@pytest.mark.parametrize(
    ("text", "token"), [("k-1", "k-1"), (" \tk-1\r\n", "k-1"), ("~" * 8192, "~" * 8192), ("!a=", "!a=")]
)
def test_a_token_is_trimmed(text: str, token: str) -> None:
    assert check_token(text) == token


@pytest.mark.parametrize(
    "text", ["", " \n", "a b", "sekret\nX: y", "caf\u00e9", "a\x00b", "a" * 8193, "\u00a0a", "a\u2028", "a\x7f"]
)
def test_a_token_of_another_form_is_refused_without_echo(text: str) -> None:
    with pytest.raises(TokenError) as caught:
        check_token(text, field="HINDSIGHT_API_TOKEN")
    assert "HINDSIGHT_API_TOKEN" in str(caught.value)
    assert "sekret" not in str(caught.value)
    assert caught.value.__cause__ is None


@given(st.text(max_size=30))
def test_an_accepted_token_can_stand_in_a_header(text: str) -> None:
    try:
        token = check_token(text)
    except TokenError:
        return
    assert token.isascii()
    assert token.isprintable()
    assert token.split() == [token]


def test_a_policy_shows_no_more_than_its_kind_and_a_variables_name() -> None:
    assert repr(NoAuth()) == "NoAuth()"
    assert repr(EnvToken("HINDSIGHT_API_TOKEN")) == "EnvToken(name='HINDSIGHT_API_TOKEN')"
    assert repr(TokenFile("/run/hidden")) == "TokenFile()"
    assert repr(KeyringToken("hidden", "someone")) == "KeyringToken()"
    assert TokenFile("/run/hidden").path == Path("/run/hidden")


def test_policies_are_values() -> None:
    assert {NoAuth(), NoAuth(), EnvToken("K"), TokenFile("/a"), TokenFile(Path("/a"))} == {
        NoAuth(),
        EnvToken("K"),
        TokenFile("/a"),
    }


def test_a_secret_gives_its_text_only_when_asked() -> None:
    secret = Secret("s3cr3t")
    assert secret.reveal() == "s3cr3t"
    assert f"{secret} {secret!r} {secret:>10} {[secret]} {secret!s}".count("s3cr3t") == 0
    assert f"{secret:>10}" == "  Secret()"
    assert not hasattr(secret, "__dict__")


def test_a_secret_is_neither_pickled_nor_copied_nor_changed() -> None:
    secret = Secret("s3cr3t")
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither pickled nor copied"):
            leak(secret)
    with pytest.raises(AttributeError):
        secret._text = "other"
    with pytest.raises(AttributeError):
        del secret._text
    assert secret.reveal() == "s3cr3t"


def test_a_walk_over_fields_does_not_open_a_secret() -> None:
    @attrs.frozen
    class Holder:
        secret: Secret

    assert "s3cr3t" not in repr(attrs.asdict(Holder(Secret("s3cr3t"))))
