"""What a frame says: reading and writing of single JSON-RPC 2.0 messages, without any I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

from hindbrain.bridge._errors import Rpc, RpcError, word

Params: TypeAlias = dict[str, Any]
Id: TypeAlias = int | str


class Request(NamedTuple):
    """The peer wants an answer with this id."""

    id: Id
    method: str
    params: Params


class Notice(NamedTuple):
    """The peer tells something and wants no answer."""

    method: str
    params: Params


class Answer(NamedTuple):
    """The peer answers: ``error`` is None where it went well. ``id`` is None where it could not tell which."""

    id: Id | None
    result: Any
    error: RpcError | None


class Malformed(NamedTuple):
    """No message. ``id`` is what it asked to be answered under, where that much could be read."""

    error: RpcError
    id: Id | None = None


Message: TypeAlias = Request | Notice | Answer | Malformed

_NOT_JSON: Final = RpcError(Rpc.PARSE, "A frame was no JSON in UTF-8 and was passed over.", code="not-json")
_BATCH: Final = RpcError(Rpc.INVALID, "Batches are not taken; send one object per frame.", code="batch")
_SHAPE: Final = RpcError(Rpc.INVALID, "A frame was no JSON-RPC 2.0 message and was passed over.", code="not-a-message")
_BY_NAME: Final = RpcError(Rpc.PARAMS, "Parameters are an object with names.", code="params")


def read(frame: bytes) -> Message:
    """The message in a frame. Never raises."""
    try:
        value = json.loads(frame.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return Malformed(_NOT_JSON)
    if isinstance(value, list):
        return Malformed(_BATCH)
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return Malformed(_SHAPE)
    return _request(value) if "method" in value else _answer(value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _is_id(value: object) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def _request(value: dict[str, Any]) -> Message:
    method, params, asks = value["method"], value.get("params", {}), "id" in value
    if not isinstance(method, str) or (asks and not _is_id(value["id"])):
        return Malformed(_SHAPE)
    if not isinstance(params, dict):
        return Malformed(_BY_NAME, value.get("id"))
    return Request(value["id"], method, params) if asks else Notice(method, params)


def _answer(value: dict[str, Any]) -> Message:
    number = value.get("id")
    if "id" not in value or not (number is None or _is_id(number)) or ("result" in value) == ("error" in value):
        return Malformed(_SHAPE)
    return Answer(number, value.get("result"), _error(value["error"]) if "error" in value else None)


def _error(value: object) -> RpcError:
    """The error of an answer, however little of it has the form it should have."""
    told = value if isinstance(value, dict) else {}
    number, message, data = told.get("code"), told.get("message"), told.get("data")
    data = data if isinstance(data, dict) else {}
    number = number if isinstance(number, int) else int(Rpc.INTERNAL)
    return RpcError(
        number,
        message if isinstance(message, str) else "The other side failed and did not say why.",
        code=str(data.get("code", word(number))),
        data=data,
    )


def _write(value: dict[str, Any]) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair can only travel as an escape
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def request(number: Id, method: str, params: Mapping[str, Any]) -> bytes:
    """The frame of a request.

    Raises:
        TypeError, ValueError, RecursionError: the parameters are no JSON.
    """
    return _write({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})


def notice(method: str, params: Mapping[str, Any]) -> bytes:
    """The frame of a notification. Raises as `request` does."""
    return _write({"jsonrpc": "2.0", "method": method, "params": dict(params)})


def result(number: Id, value: Any) -> bytes:
    """The frame of an answer that went well. Raises as `request` does."""
    return _write({"jsonrpc": "2.0", "id": number, "result": value})


def failure(number: Id | None, error: RpcError) -> bytes:
    """The frame of an answer that is an error. Raises as `request` does, for the error's data."""
    return _write({"jsonrpc": "2.0", "id": number, "error": error.wire()})
