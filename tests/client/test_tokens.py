import asyncio
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import pytest

from hindbrain.client import HindsightClient, MissingExtraError, TokenFault, TokenUnavailableError
from hindbrain.client._tokens import read_token
from hindbrain.contracts import (
    Endpoint,
    EnvToken,
    KeyringToken,
    NoAuth,
    Outcome,
    RecallQuery,
    TokenFile,
    TokenPolicy,
)

KEY = "k-1secret"


async def revealed(policy: TokenPolicy) -> str | None:
    secret = await read_token(policy)
    return None if secret is None else secret.reveal()


async def fault_of(policy: TokenPolicy) -> TokenFault:
    with pytest.raises(TokenUnavailableError) as caught:
        await read_token(policy)
    told = "".join(traceback.format_exception(caught.value))
    assert caught.value.outcome is Outcome.NOT_SENT
    assert caught.value.__context__ is None
    assert KEY not in told
    return caught.value.fault


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"{KEY}\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def link(file: Path) -> Path:
    path = file.with_name("link")
    path.symlink_to(file)
    return path


async def test_no_auth_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_TOKEN", KEY)

    assert await read_token(NoAuth()) is None


@pytest.mark.req("S2-auth-001")
async def test_a_variable_is_read_and_trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_API_TOKEN", f"  {KEY}\n")

    assert await revealed(EnvToken("HINDSIGHT_API_TOKEN")) == KEY


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (None, TokenFault.MISSING),
        ("", TokenFault.MISSING),
        (" \n", TokenFault.MISSING),
        (f"{KEY}\nX: y", TokenFault.MALFORMED),
        (f"{KEY} {KEY}", TokenFault.MALFORMED),
        (f"{KEY}é", TokenFault.MALFORMED),
        (KEY * 1_000, TokenFault.MALFORMED),
    ],
)
async def test_a_variable_without_a_token_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str | None, fault: TokenFault
) -> None:
    monkeypatch.delenv("HINDSIGHT_API_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("HINDSIGHT_API_TOKEN", value)

    assert await fault_of(EnvToken("HINDSIGHT_API_TOKEN")) is fault


async def test_a_private_file_is_read_also_through_a_link(file: Path, link: Path) -> None:
    assert await revealed(TokenFile(file)) == KEY
    assert await revealed(TokenFile(link)) == KEY


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601, 0o644])
def test_a_file_that_others_may_touch_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)

    assert asyncio.run(fault_of(TokenFile(file))) is TokenFault.EXPOSED


@pytest.mark.parametrize(
    ("content", "fault"),
    [(b"x" * 1_000_000, TokenFault.MALFORMED), (b"\xff\xfe", TokenFault.MALFORMED), (b"\n", TokenFault.MISSING)],
    ids=["long", "bytes", "blank"],
)
def test_a_file_that_holds_no_token_is_refused(file: Path, content: bytes, fault: TokenFault) -> None:
    file.write_bytes(content)

    assert asyncio.run(fault_of(TokenFile(file))) is fault


async def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert await fault_of(TokenFile(tmp_path / "absent")) is TokenFault.MISSING


async def test_what_is_no_plain_file_is_refused_and_never_waited_for(file: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo, 0o600)

    assert await fault_of(TokenFile(fifo)) is TokenFault.UNREADABLE
    assert await fault_of(TokenFile(tmp_path)) is TokenFault.UNREADABLE
    assert await fault_of(TokenFile(file / "below-a-file")) is TokenFault.UNREADABLE


def keyring(monkeypatch: pytest.MonkeyPatch, get: Any) -> None:
    fake = types.ModuleType("keyring")
    vars(fake)["get_password"] = get
    monkeypatch.setitem(sys.modules, "keyring", fake)


async def test_the_keyring_is_asked_for_service_and_user(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring(monkeypatch, lambda service, user: KEY if (service, user) == ("hindsight", "me") else None)

    assert await revealed(KeyringToken("hindsight", "me")) == KEY
    assert await fault_of(KeyringToken("hindsight", "you")) is TokenFault.MISSING


async def test_a_keyring_that_fails_says_nothing_of_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_args: str) -> str:
        raise RuntimeError(KEY)

    keyring(monkeypatch, locked)

    assert await fault_of(KeyringToken("hindsight", "me")) is TokenFault.UNREADABLE


async def test_a_keyring_that_is_not_installed_is_named_as_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)

    with pytest.raises(MissingExtraError, match=r"hindbrain-client\[keyring\]"):
        await read_token(KeyringToken("hindsight", "me"))


async def test_a_named_token_that_is_not_there_sends_nothing(
    loopback: Any, monkeypatch: pytest.MonkeyPatch, reply: Any
) -> None:
    monkeypatch.delenv("HINDSIGHT_API_TOKEN", raising=False)
    server = await loopback(reply(200, {"results": []}))

    async with HindsightClient(Endpoint.parse(server.url), EnvToken("HINDSIGHT_API_TOKEN")) as client:
        with pytest.raises(TokenUnavailableError) as caught:
            await client.recall("bank-a", RecallQuery(text="lint"))
    assert (caught.value.code, server.connections) == ("config", 0)
