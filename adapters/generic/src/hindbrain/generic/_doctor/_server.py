"""The server as the settings name it, without contacting it."""

from __future__ import annotations

from collections.abc import Iterable

from hindbrain.contracts import Endpoint, EnvToken, KeyringToken, NoAuth
from hindbrain.generic._doctor._case import Case
from hindbrain.generic._doctor._finding import Finding, ok, problem
from hindbrain.generic._open import check_destination, token_policy


async def server(case: Case) -> Iterable[Finding]:
    """The address, and whether its key can be had. The key itself is shown nowhere."""
    check_destination(case.settings)
    endpoint = Endpoint.parse(case.settings["hindsight.baseUrl"])
    policy = token_policy(case.settings["hindsight.apiKeyRef"])
    found = [ok("server", endpoint.url, url=endpoint.url)]
    if isinstance(policy, NoAuth):
        return [*found, ok("token", "no key is sent; hindsight.apiKeyRef names none", set=False)]
    if isinstance(policy, KeyringToken):
        return [*found, ok("token", "the key is asked of the keyring at each request", set=True)]
    from hindbrain.client import TokenUnavailableError, read_token

    try:
        await read_token(policy)
    except TokenUnavailableError as error:
        text, advice = error.what, error.next_step
        if isinstance(policy, EnvToken):
            text, advice = "The named variable is not set.", f"Export {policy.name} before the agent starts."
        return [*found, problem("token", text, advice, set=False)]
    return [*found, ok("token", f"set ({type(policy).__name__})", set=True)]
