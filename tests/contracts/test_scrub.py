"""Scrubbing: what goes, what stays, and that it holds under repetition and hostile length."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.contracts import scrub
from hindbrain.contracts.testing import PlantedSecret, planted_secrets

PLANTED = planted_secrets()
SESSIONS = sorted((Path(__file__).parents[3] / "shared" / "data").glob("pi-*.jsonl"))


@pytest.mark.parametrize("planted", PLANTED, ids=lambda p: p.family)
def test_a_planted_secret_is_replaced_by_its_kind(planted: PlantedSecret) -> None:
    scrubbed = scrub(planted.text)
    assert planted.core not in scrubbed
    assert f"[REDACTED:{planted.family}]" in scrubbed
    assert scrub(scrubbed) == scrubbed


def test_every_planted_text_holds_its_core_and_a_repr_does_not() -> None:
    assert all(p.core in p.text and p.core not in repr(p) for p in PLANTED)
    assert planted_secrets() == PLANTED


def test_all_planted_secrets_in_one_text_are_found() -> None:
    scrubbed = scrub("\n".join(p.text for p in PLANTED))
    assert [p.family for p in PLANTED if p.core in scrubbed] == []


BODY = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ"


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        (f"token: gh{'p_'}{BODY}", "token: [REDACTED:github-token]"),
        (f"Authorization: Bearer {BODY}", "Authorization: Bearer [REDACTED:bearer-token]"),
        ("authorization: bearer 0123456789ab.", "authorization: bearer [REDACTED:bearer-token]"),
        ("Authorization: Basic ZGVtbzpkZW1v", "Authorization: Basic [REDACTED:basic-auth]"),
        ("DB_PASSWORD=hunter2hunter2 make", "DB_PASSWORD=[REDACTED:credential] make"),
        ("MY_SECRET=p;(w,&d", "MY_SECRET=[REDACTED:credential]"),
        ("API_TOKEN=correcthorse", "API_TOKEN=[REDACTED:credential]"),
        ("API_TOKEN=abc1234\\nNEXT=1", "API_TOKEN=[REDACTED:credential]\\nNEXT=1"),
        ("PASSWORD=12345678", "PASSWORD=[REDACTED:credential]"),
        ("password: hunter2", "password: [REDACTED:credential]"),
        ('password: str = "hunter22x"', 'password: str = "[REDACTED:credential]"'),
        ('"password": "correct horse battery staple"', '"password": "[REDACTED:credential]"'),
        ('"password": "mysecretword"', '"password": "[REDACTED:credential]"'),
        ("'secret': 's3cr3t-value'", "'secret': '[REDACTED:credential]'"),
        ("token: `abc12345`", "token: `[REDACTED:credential]`"),
        ('"apiKey": "abcdefghijklmnop"', '"apiKey": "[REDACTED:credential]"'),
        (r"{\"token\": \"ab\\\"cd1234\"} tail", r"{\"token\": \"[REDACTED:credential]\"} tail"),
        ('x["API_TOKEN"] = "abc12345"', 'x["API_TOKEN"] = "[REDACTED:credential]"'),
        ("--token abc12345 go", "--token [REDACTED:credential] go"),
        ("https://h/?token=abcdefgh&page=2", "https://h/?token=[REDACTED:credential]&page=2"),
        ("https://h/?key=AbCd1234efgh", "https://h/?key=[REDACTED:url-parameter]"),
        ("redis://:pw@h", "redis://:[REDACTED:password]@h"),
        ("postgres://u:pa@ss@h/db", "postgres://u:[REDACTED:password]@h/db"),
        (f"https://{BODY}@h/x", "https://[REDACTED:password]@h/x"),
        ("Set-Cookie: sid=abcd1234; Path=/\nnext", "Set-Cookie: [REDACTED:cookie]\nnext"),
        ('"cookie": "sid=abcd1234; a=b"}', '"cookie": "[REDACTED:cookie]"}'),
        ('"secret_key_base": "0a1b2c3d4e"', '"secret_key_base": "[REDACTED:credential]"'),
        (f'token="{"a1" * 400}" tail', 'token="[REDACTED:credential]" tail'),
        (f"\u0130 token: {BODY}", "\u0130 token: [REDACTED:credential]"),
        (f"Cookie: a=gh{'p_'}{BODY}; b=abcd1234", "Cookie: [REDACTED:github-token]"),
        (f"https://gh{'p_'}{BODY}:pw@h", "https://[REDACTED:github-token]:[REDACTED:password]@h"),
        ("https://[REDACTED:github-token]:pw@h", "https://[REDACTED:github-token]:[REDACTED:password]@h"),
        ("token2: abc12345", "token2: [REDACTED:credential]"),
        ('secretKey: "abc12345"', 'secretKey: "[REDACTED:credential]"'),
        ('"password_confirmation": "mysecretword"', '"password_confirmation": "[REDACTED:credential]"'),
        (f"a\\ns{'k-'}{BODY}", "a\\n[REDACTED:api-key]"),
        (f"q%3Ds{'k-'}{BODY}", "q%3D[REDACTED:api-key]"),
        ("s" + "k-ant-abcdefgh-ijklmnop-qrstuvwx", "[REDACTED:api-key]"),
        (
            f"A{'KIA'}{'Q2' * 8}-----BEGIN {'PRIVATE'} KEY-----{BODY}-----END {'PRIVATE'} KEY-----",
            "[REDACTED:aws-access-key][REDACTED:private-key]",
        ),
        (f"-----BEGIN {'PRIVATE'} KEY-----\n{BODY}\n{BODY}", "[REDACTED:private-key]"),
        (f"session A{'KIA'}{'Q2' * 8}, done", "session [REDACTED:aws-access-key], done"),
        ('token: x_token= "abc12345"', 'token: x_token= "[REDACTED:credential]"'),
        ("token: YWJjZGVmZw= next", "token: [REDACTED:credential] next"),
        ("Proxy-Authorization: basic ZGVtbzpkZW1v", "Proxy-Authorization: basic [REDACTED:basic-auth]"),
        ("Server=db;pwd=a1b2c3;Timeout=5", "Server=db;pwd=[REDACTED:password];Timeout=5"),
        ("machine h\n  login me\n  password pa55word", "machine h\n  login me\n  password [REDACTED:password]"),
        ('curl -X POST --user "me:pa55word" h', 'curl -X POST --user "me:[REDACTED:password]" h'),
        ("curl -c jar https://h -u me:pa55word", "curl -c jar https://h -u me:[REDACTED:password]"),
        (f"gh{'p_'}{BODY}gh{'p_'}{BODY}", "[REDACTED:github-token]"),
    ],
)
def test_the_secret_goes_and_the_words_around_it_stay(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed
    assert scrub(scrubbed) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T12:00:00Z 1772366400 1772366400123",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "93e33487-6c92-5880-9b29-dc86689d9c26",
        "const tokenCount = 4096",
        "maxTokens = 4096",
        "token: string",
        "token: string | null",
        "password: str",
        "password: 12345678",
        "secret = 20260301",
        'secret = os.environ["X"]',
        "secret: config.auth2.clientSecret1",
        "api_key=API_KEY",
        "api_key=get_key1(name)",
        "token: process.env.API_KEY",
        "API_TOKEN=${OTHER}",
        "API_TOKEN=$OTHER_TOKEN",
        "DB_PASSWORD=changeme",
        'token: "abc-${x1}-12345"',
        '"api_key": "YOUR_KEY_12345"',
        '"token": "some-long-slug-without-digits"',
        "API_TOKEN=config.settings.value",
        "token = sha512_256hash(value)",
        'password: "required"',
        '"password": "Password is required."',
        '"token": "The token to use, as it stands"',
        '"token": "bearer"',
        '"secret_name": "projects/one/v12345678"',
        '"token_type": "abcdef123456"',
        "tokenizer: cl100k_base_v2_large",
        "token: base64Token",
        "password: https://h/reset",
        'token = "/run/secrets/token"',
        'token="****************"',
        'token: "xxxxxxxxxxxx"',
        'token: "<your token 1>"',
        "the token is abc12345",
        "Bearer authentication is used",
        "Bearer config.apiToken",
        "Authorization: Bearer ${token}",
        "cookie: string",
        "cookie: sid=${sid}; a=b",
        "http://host:8080/path",
        "http://host:8080?mail=a@b",
        "https://user:${PASSWORD}@host",
        "git@github.com:luxus/finalform.git",
        "npm i @scope/pkg@1.2.3",
        "signature=parsed_signature, x",
        "class sk-circle-fade-dot-animation",
        "task-management-and-more-words-here",
        # Forms that nearly are a maker's: too short, within a word, of other signs.
        "the dapi0123456789abcdef0123456789abcdef0 and mydapi0123456789abcdef0123456789abcdef",
        "S" + "K0123456789abcdef0123456789abcde TASK0123456789abcdef0123456789abcdef",
        "ci" + "oabcdefghijklmnopqrstuvwxyzabcdefgh oci" + "o0bcdefghijklmnopqrstuvwxyzabcdefg",
        "monkey-" + "0123456789abcdef0123456789abcdef",
        "my_secret_" + "a1B2" * 10 + "c3d",
        "oy" + "2" + "a1b2" * 10,
        "12345:AAabcdefghijklmnopqrstuvwxyz0123456",
        "a1b2c3.atlasv1.x",
        "hvs.short SG.short.short ya29.short dp.pt.short",
        "Zz0aaaaaaaaaaaaaaaaaaaaa.Gh1jKl.aB3dE5gH7jK9mN1pQ3sT5vW7yZ0",
        "$6$short $2a$10$short ${a1b2} $1$ costs",
        "https://hooks.slack.com/services/your/webhook/here/please",
        "https://0123456789abcdef@o1.ingest.example.com/2",
        "Basic knowledge is enough, basic authentication: basic YWJjZGVmZ2hp",
        "basic a1b2c",
        "curl -s -u $USER:$PASSWORD https://h",
        "docker run -u 1000:1000 image; sort -u name:other",
        "curl https://h\nsort -u name:other1234",
        "login as someone, after login the password must be given, this machine has login and password",
        "PWD=/home/dev; cd",
        "author: someone, authority = 12345678, oauth=library",
        '"auth": "YWJjZGVmZ2hpamtsbW5vcA=="',
        "secret_key: 0123456789012345678901234567890123456789",
        "PrivateKey = short",
        "AccountKey=demo",
        "START = '-----BEGIN PRIVATE KEY-----'\nEND = '-----END PRIVATE KEY-----'",
        "It begins with -----BEGIN PRIVATE KEY-----\nand the words\nafter it stay.",
        "-----BEGIN PRIVATE KEY-----\n\nfoo\nbar\n\n-----END PRIVATE KEY-----",
        "",
    ],
)
def test_code_numbers_ids_and_prose_survive(text: str) -> None:
    assert scrub(text) == text


FRAGMENTS = st.sampled_from(
    [
        *(p.text for p in PLANTED),
        *(p.core for p in PLANTED[::9]),
        *(
            "token: ",
            "TOKEN=",
            "--token ",
            "password",
            '"',
            '\\"',
            "'",
            "://u:",
            "://",
            "@",
            "=",
            "&",
            "?key=",
            "Bearer ",
        ),
        *(
            "Cookie: a=",
            "sk-",
            "eyJ",
            ".",
            "gh",
            "p_",
            "AKIA",
            "\n",
            "\\n",
            " ",
            "[REDACTED:",
            "]",
            "abc123def456",
            "%3D",
        ),
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"),
    ]
)
TEXTS = st.lists(FRAGMENTS | st.text(string.printable, max_size=12), max_size=12).map("".join)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_scrubbing_again_changes_nothing(text: str) -> None:
    once = scrub(text)
    assert scrub(once) == once


@given(st.sampled_from(PLANTED), st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_a_secret_on_its_own_line_is_found_whatever_stands_around(
    planted: PlantedSecret, before: str, after: str
) -> None:
    assert planted.core not in scrub(f"{before}\n{planted.text}\n{after}")


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "unit",
    [
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "://",
        "://a:",
        "password",
        "authorization",
        "token:",
        'token="',
        "sk-",
        "gh",
        "Cookie:a",
        "Cookie:a=bbbb",
        "bearer ",
        "apikey",
        "token ",
        "token\\",
        "AKIA",
        "signature=",
        "a",
        "gh" + "p_aaaaaa\n",
        "s" + "k-\\n",
        "\\u0041",
        "\\/",
        "curl -u ",
        "://hooks.slack.com/services/",
        "private-lines: 1\n",
        *(f"-----BEGIN {'PRIVATE'} KEY-----{more}" for more in ("\nA: b\n", "\\nabcd\\n", "\nab", " \n \n", "\\\\")),
        "ab.",
        "$6$",
        "machine a login ",
        'auth":"aaaaaaaaaaaaaaaaaaaa',
    ],
)
def test_hostile_repetition_costs_no_more_than_its_length(unit: str) -> None:
    # A quadratic rule would need minutes for this, a linear one a second or two.
    text = unit * (300_000 // len(unit))
    assert len(scrub(text)) <= len(text)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("unit", ["\n", " ", "\\", "\nabcd", " \n", "A: b\n", "\nabcd ", "\"'", "-"])
def test_a_key_full_of_anything_costs_no_more_than_its_length(unit: str) -> None:
    head, tail = (f"-----{word} {'PRIVATE'} KEY-----" for word in ("BEGIN", "END"))
    for text in (head + unit * 300_000, head + unit * 300_000 + tail, (head + unit * 3000 + "!" + tail) * 100):
        assert len(scrub(text)) <= len(text)


def private_key(*, width: int, size: int, end: str, names: str, whole: bool) -> str:
    body = (BODY * (size // len(BODY) + 1))[:size]
    lines = [body[at : at + width] for at in range(0, size, width)]
    kind = f"RSA {'PRIVATE'} KEY"
    first, last = f"-----BEGIN {kind}-----{end}{names}", f"-----END {kind}-----" if whole else ""
    return f"{first}{end.join(lines)}{end}{last}"


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "cut off"])
@pytest.mark.parametrize("names", ["", "Proc-Type: 4,ENCRYPTED{0}DEK-Info: AES-256-CBC,0011AA{0}{0}"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\\n", "\\\\r\\\\n", "\n    "])
@pytest.mark.parametrize(("width", "size"), [(4, 300), (16, 1700), (19, 30_000), (64, 30_000), (30_000, 30_000)])
def test_a_private_key_goes_however_long_it_is_and_however_short_its_lines(
    width: int, size: int, end: str, names: str, whole: bool
) -> None:
    key = private_key(width=width, size=size, end=end, names=names.format(end), whole=whole)
    scrubbed = scrub(f"before {key} after.")
    assert scrubbed.startswith("before [REDACTED:private-key]")
    assert scrubbed.endswith(" after.")
    assert len(scrubbed) < 60
    assert scrub(scrubbed) == scrubbed


@pytest.mark.skipif(not SESSIONS, reason="the public sessions are not here")
def test_a_session_without_secrets_is_left_nearly_alone() -> None:
    lines = [line for path in SESSIONS for line in path.read_text().splitlines()]
    touched = [line for line in lines if scrub(line) != line]
    assert len(touched) <= len(lines) / 100
    assert all(json.loads(scrub(line)) for line in touched)
