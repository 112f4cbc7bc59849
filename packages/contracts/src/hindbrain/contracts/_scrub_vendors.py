"""Secrets that their own form gives away: one row each of a kind, the literals it begins with, and what must follow.

Source: spec/memory.md section 6.8 (the seed's families), spec/facts.md section 5.4; the makers' own descriptions of
their tokens for the rest. Only forms that nothing else has are here; the others are known by the name beside them.
"""

from __future__ import annotations

from hindbrain.contracts._scrub_rule import LEFT, RIGHT, WEB, Rule

_WORD = "[A-Za-z0-9]"
_HEX = "[a-f0-9]"
_BASE64 = "[A-Za-z0-9+/]"
# A plain lower-case slug after sk- is a CSS class, unless it begins as the makers of keys begin.
_NO_SLUG = r"(?!(?!ant-|proj-|or-|svcacct-)[a-z]+(?:-[a-z]+)+(?![A-Za-z0-9_-]))"
# The rest of a token that was broken where its beginning is long enough to be known: a word of mixed signs by itself.
_BREAK = r"(?:(?:\\+r)?\\+n|\r?\n)"
_MIXED = rf"(?={WEB}{{0,60}}[0-9])(?={WEB}{{0,60}}[A-Z])(?={WEB}{{0,60}}[a-z])"
_REST = rf"{_BREAK}{_MIXED}{WEB}{{10,}}+(?=[\s\"'`\\,;)]|\Z)"

_BEGINNINGS = (
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_WORD}{{20,}}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{20,}"),
    ("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent-", r"[A-Za-z0-9_.-]{20,}"),
    ("atlassian-token", "ATA", r"TT3[A-Za-z0-9_=-]{60,}"),
    ("npm-token", "npm_", rf"{_WORD}{{30,}}"),
    ("pypi-token", "pypi-", rf"{WEB}{{40,}}"),
    ("rubygems-key", "rubygems_", rf"{_HEX}{{48}}"),
    ("docker-token", "dckr_pat_ dckr_oat_", rf"{WEB}{{20,}}"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", rf"{_WORD}{{16,}}"),
    ("stripe-key", "whsec_", rf"{_BASE64}{{24,}}={{0,2}}"),
    ("square-key", "sq0atp- sq0csp-", rf"{WEB}{{22,}}"),
    ("google-api-key", "AIza", rf"{WEB}{{30,}}"),
    ("google-oauth-secret", "GOCSPX-", rf"{WEB}{{24,}}"),
    ("google-oauth-token", "ya29.", rf"{WEB}{{20,}}"),
    ("slack-token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd-", r"[A-Za-z0-9%-]{10,}"),
    ("slack-token", "xapp-", r"[A-Za-z0-9-]{20,}"),
    ("sendgrid-key", "SG.", rf"{WEB}{{16,64}}\.{WEB}{{16,64}}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[a-fA-F0-9]{32}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{64}}"),
    ("linear-key", "lin_api_ lin_oauth_", rf"{_WORD}{{32,}}"),
    ("notion-token", "ntn_", rf"{_WORD}{{40,}}"),
    ("figma-token", "figd_ figu_ figo_", rf"{WEB}{{36,}}"),
    ("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{40,}"),
    ("vault-token", "hvs. hvb. hvr.", rf"{WEB}{{20,}}"),
    ("grafana-token", "glsa_", rf"{_WORD}{{32}}_[A-Fa-f0-9]{{8}}"),
    ("grafana-token", "glc_", rf"{_BASE64}{{32,}}={{0,2}}"),
    ("pulumi-token", "pul-", rf"{_HEX}{{40}}"),
    ("netlify-token", "nfp_", rf"{_WORD}{{36,}}"),
    ("supabase-key", "sbp_ sb_secret_", rf"{WEB}{{30,}}"),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{32,}"),
    ("doppler-token", "dp.pt. dp.ct. dp.sa. dp.st. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{40,}"),
    ("postman-key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    ("newrelic-key", "NRAK-", r"[A-Z0-9]{27}"),
    ("tailscale-key", "tskey-auth- tskey-api- tskey-client- tskey-webhook-", rf"{_WORD}{{8,}}-{_WORD}{{16,}}"),
    ("sonar-token", "squ_ sqp_ sqa_", rf"{_HEX}{{40}}"),
    ("heroku-key", "HRKU-", rf"{WEB}{{36,}}"),
    ("fly-token", "fo1_ fm2_", r"[A-Za-z0-9+/=_-]{40,}"),
    ("huggingface-token", "hf_ api_org_", rf"{_WORD}{{30,}}"),
    ("groq-key", "gsk_", rf"{_WORD}{{40,}}"),
    ("xai-key", "xai-", rf"{_WORD}{{40,}}"),
    ("replicate-token", "r8_", rf"{_WORD}{{37,}}"),
    ("perplexity-key", "pplx-", rf"{_WORD}{{40,}}"),
    ("nvidia-key", "nvapi-", rf"{WEB}{{40,}}"),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", rf"{_HEX}{{32}}_{_HEX}{{10}}"),
    ("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{40,}"),
    ("tavily-key", "tvly-", rf"{WEB}{{24,}}"),
    ("cerebras-key", "csk-", rf"{_WORD}{{40,}}"),
    ("age-key", "AGE-SECRET-KEY-", r"(?:PQ-)?1[A-Z0-9]{58,}"),
)
"""Kind, beginnings, and what follows each."""

_WHOLE_WORDS = (
    ("api-key", "sk-", rf"{_NO_SLUG}{WEB}{{16,}}"),
    ("aws-access-key", "AKIA ASIA", r"[A-Z0-9]{16}"),
    ("databricks-token", "dapi", rf"{_HEX}{{32}}(?:-[0-9]{{1,2}})?"),
    ("crates-token", "cio", r"(?=[A-Za-z]{0,31}[0-9])[A-Za-z0-9]{32}"),
    ("nuget-key", "oy2", r"[a-z0-9]{43}"),
    ("twilio-key", "SK", rf"{_HEX}{{32}}"),
    ("mailgun-key", "key-", rf"{_HEX}{{32}}"),
    ("notion-token", "secret_", rf"{_WORD}{{43}}"),
    ("elevenlabs-key", "sk_", rf"{_HEX}{{48}}"),
    ("jwt", "eyJ", rf"{WEB}{{7,}}\.{WEB}{{10,}}\.{WEB}{{10,}}"),
    ("discord-token", "mfa.", rf"{WEB}{{80,}}"),
)
"""The same, but so short that they must not stand within a word."""


def _beginning(kind: str, beginnings: str, tail: str, *, whole: bool) -> Rule:
    anchors = tuple(beginnings.split())
    begin = "|".join(anchor.replace(".", r"\.") for anchor in anchors)
    pattern = f"{LEFT}(?:{begin}){tail}{RIGHT}" if whole else f"(?:{begin}){tail}"
    return Rule(kind=kind, anchors=anchors, pattern=pattern, rest=_REST, wraps=True)


def _within(kind: str, anchors: str, pattern: str, *, back: int) -> Rule:
    return Rule(kind=kind, anchors=tuple(anchors.split()), pattern=pattern, back=back, rest=_REST, wraps=True)


_BOT = "[MNO][DTjz][A-Za-z0-9]"
_WITHIN = (
    _within("azure-secret", "7Q~ 8Q~", r"[A-Za-z0-9_.~-]{3}[78]Q~[A-Za-z0-9_.~-]{31,34}", back=3),
    _within("terraform-token", ".atlasv1.", rf"{_WORD}{{14}}\.atlasv1\.{WEB}{{60,}}", back=14),
    _within("telegram-token", ":AA", rf"(?<=[0-9]{{8}}):(AA{WEB}{{32,}})", back=0),
    # What stands before is the bot's id in base 64, of 17 to 19 digits: it is public, and tells this from a JWT.
    Rule(
        kind="discord-token",
        anchors=(),
        pattern=rf"\.(?:(?<={_BOT}{{21}}\.)|(?<={_BOT}{{22}}\.)|(?<={_BOT}{{24}}\.))({WEB}{{6}}\.{WEB}{{27,40}}){RIGHT}",
    ),
)
"""Secrets whose telling sign is not where they begin."""

VENDORS = (
    *(_beginning(*row, whole=False) for row in _BEGINNINGS),
    *(_beginning(*row, whole=True) for row in _WHOLE_WORDS),
    *_WITHIN,
)
