"""File names are one for each bank, and only the owner can read what they name."""

from __future__ import annotations

import os
import string
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import RecallQuery
from hindbrain.store import EmbeddedBackend, StorePathError
from hindbrain.store._paths import REGISTRY, file_name

if TYPE_CHECKING:
    from store.conftest import Keep

BANKS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}", fullmatch=True)


@pytest.mark.parametrize(
    ("bank", "name"),
    [
        ("user-1", "user-1.sqlite"),
        ("coding-agent::repo", "coding-agent_3a_3arepo.sqlite"),
        ("Repo", "_52epo.sqlite"),
        ("a.b_c", "a_2eb_5fc.sqlite"),
        ("con", "_63on.sqlite"),
        ("com1", "_63om1.sqlite"),
    ],
)
def test_a_bank_id_becomes_a_safe_file_name(bank: str, name: str) -> None:
    assert file_name(bank) == name


@given(left=BANKS, right=BANKS)
def test_two_banks_never_share_a_file_even_where_case_is_folded(left: str, right: str) -> None:
    assert (file_name(left).casefold() == file_name(right).casefold()) == (left == right)


@given(bank=BANKS)
def test_a_file_name_is_short_plain_and_never_the_registrys(bank: str) -> None:
    name = file_name(bank)
    assert len(name) <= 255
    assert set(name) <= set(string.ascii_lowercase + string.digits + "-_~.")
    assert name != REGISTRY


def test_long_ids_that_differ_at_their_end_have_different_files() -> None:
    assert file_name("A" * 127 + "b") != file_name("A" * 127 + "c")


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
async def test_every_file_is_private_whatever_the_umask(root: Path, keep: Keep) -> None:
    await keep("The vault is private.")
    assert root.stat().st_mode & 0o777 == 0o700
    files = {path.name: path.stat().st_mode & 0o777 for path in root.iterdir()}
    assert {"bank.sqlite", "bank.sqlite-wal", "bank.sqlite-shm"} <= files.keys()
    assert set(files.values()) == {0o600}


async def test_a_folder_and_file_that_others_could_read_are_closed_to_them(root: Path, keep: Keep) -> None:
    root.mkdir(mode=0o755)
    (root / "bank.sqlite").touch(mode=0o644)
    await keep("The vault is private.")
    assert root.stat().st_mode & 0o777 == 0o700
    assert (root / "bank.sqlite").stat().st_mode & 0o777 == 0o600


async def test_a_file_its_owner_made_read_only_stays_so(root: Path, backend: EmbeddedBackend, keep: Keep) -> None:
    await keep("The vault is private.")
    await backend.close()
    (root / "bank.sqlite").chmod(0o444)
    again = EmbeddedBackend(root)
    assert (await again.recall("bank", RecallQuery(text="vault"))).facts
    await again.close()
    assert (root / "bank.sqlite").stat().st_mode & 0o777 == 0o400


async def test_a_folder_that_is_a_link_is_refused(tmp_path: Path, root: Path, keep: Keep) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    root.symlink_to(elsewhere)
    with pytest.raises(StorePathError):
        await keep("The vault is private.")
    assert not list(elsewhere.iterdir())


async def test_a_file_that_is_a_link_is_refused(tmp_path: Path, root: Path, keep: Keep) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    root.mkdir()
    (root / "bank.sqlite").symlink_to(target)
    with pytest.raises(StorePathError):
        await keep("The vault is private.")
    assert target.read_bytes() == b"precious"


async def test_a_folder_of_another_user_is_refused(root: Path, keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    root.mkdir()
    owner = root.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(StorePathError) as refused:
        await keep("The vault is private.")
    assert refused.value.code == "store-path"
    assert not list(root.iterdir())


async def test_asking_makes_no_file(root: Path, backend: EmbeddedBackend) -> None:
    await backend.delete("bank", "doc")
    assert not root.exists()


async def test_a_file_that_was_taken_away_is_not_written_to_any_more(root: Path, keep: Keep) -> None:
    await keep("The first tide.")
    for path in root.iterdir():
        path.unlink()
    await keep("The second tide.", document_id="other")
    assert (root / "bank.sqlite").exists()
