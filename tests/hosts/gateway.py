"""A door before a Hindsight server that a test can shut, or let requests wait at; it keeps what went through."""

import http.client
import select
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

HOP = {"connection", "host", "keep-alive", "transfer-encoding"}
SECONDS = 60.0


class Seen:
    """A request; `closed` where whoever asked went away while it was held."""

    def __init__(self, method: str, path: str, body: bytes) -> None:
        self.method, self.path, self.body = method, path, body
        self.closed = False


class Gateway:
    """Hands requests on to `upstream`, a URL; without one every request is refused. A context manager.

    Requests whose path has `held` in it wait until whoever asked goes away.
    """

    def __init__(self, upstream: str | None) -> None:
        self.upstream = upstream
        self.seen: list[Seen] = []
        self.held: str | None = None
        self._server: ThreadingHTTPServer | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """Its address, which stays the same."""
        return f"http://127.0.0.1:{self._port}"

    def about(self, path: str) -> list[Seen]:
        """The requests with this in their path."""
        return [seen for seen in self.seen if path in seen.path]

    def up(self) -> None:
        """Listen."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), _handler_of(self))
        self._server.daemon_threads = True
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def down(self) -> None:
        """Refuse every connection."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> Self:
        self.up()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.down()


def _handler_of(gateway: Gateway) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            seen = Seen(self.command, self.path, body)
            gateway.seen.append(seen)
            if gateway.held is not None and gateway.held in self.path:
                select.select([self.connection], [], [], SECONDS)
                seen.closed = not self.connection.recv(1, socket.MSG_PEEK)
                return
            if gateway.upstream is None:
                self.send_error(403)
                return
            status, headers, data = self._ask(gateway.upstream, body)
            with suppress(BrokenPipeError):  # whoever asked has a deadline
                self.send_response_only(status)
                for name, value in headers:
                    if name.lower() not in HOP:
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815  (the base class's names)

        def _ask(self, upstream: str, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            asked = http.client.HTTPConnection(urlsplit(upstream).netloc, timeout=SECONDS)
            try:
                asked.request(self.command, self.path, body or None, headers)
                answer = asked.getresponse()
                return answer.status, answer.getheaders(), answer.read()
            finally:
                asked.close()

        def log_message(self, *_: object) -> None:
            """Keep quiet: `seen` tells more."""

    return Handler
