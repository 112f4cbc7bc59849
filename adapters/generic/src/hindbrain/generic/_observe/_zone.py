"""The zone that this machine's user lives in, by the name a ledger keeps."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

_DATABASE = "zoneinfo/"
_LINK = Path("/etc/localtime")


def local_zone(told: str = "") -> str:
    """A name of the zone database where there is one to be found, else the present offset, such as ``+02:00``.

    Args:
        told: what the environment's ``TZ`` says.
    """
    name = told.lstrip(":") or _linked()
    if name and _is_known(name):
        return name
    return _offset()


def _linked() -> str:
    try:
        return str(_LINK.readlink()).partition(_DATABASE)[2].removeprefix("Etc/")
    except OSError:
        return ""


def _is_known(name: str) -> bool:
    from zoneinfo import ZoneInfo

    try:
        return bool(ZoneInfo(name).key)
    except (KeyError, OSError, ValueError):
        return False


def _offset() -> str:
    away = datetime.now().astimezone().strftime("%z")
    return f"{away[:3]}:{away[3:5]}" if away and away != "+0000" else "UTC"
