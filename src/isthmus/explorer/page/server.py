"""The local server: loopback only, a secret in the address, ended with its last page."""

import asyncio
import errno
import logging
import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from panel.io.application import build_applications
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop

ADDRESS = "127.0.0.1"
# Seconds without any page after which the server ends; a page that is loaded anew is quicker.
_GRACE = 4.0
# Nobody came at all: the browser may have to be opened by hand.
_UNVISITED = 24 * 3600.0


class PortTaken(OSError):
    """Another program listens at the port."""


class _PromptServer(HTTPServer):
    """Sends small pieces at once: joined with others, an answer would come 40 ms later."""

    def handle_stream(self, stream: Any, address: Any) -> None:
        stream.set_nodelay(True)
        stream.set_nodelay = lambda value: None  # which is otherwise undone after each request
        super().handle_stream(stream, address)


class LocalServer:
    """Serves one page at a secret address of this machine until it is closed.

    Parameters
    ----------
    make : callable
        Makes the page for one visitor.
    port : int
        0 takes a free one.
    title : str
    """

    def __init__(self, make: Callable[[], Any], *, port: int = 0, title: str = ""):
        self._make, self._title = make, title
        self._socket = _listening_socket(port)
        self.port = int(self._socket.getsockname()[1])
        self.token = secrets.token_urlsafe(18)
        self._started, self._ended = threading.Event(), threading.Event()
        self._problem: BaseException | None = None
        self._visited = False
        self._sessions: set[Any] = set()
        self._thread = threading.Thread(target=self._run, daemon=True, name="isthmus-explore")

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.port}/{self.token}"

    def start(self) -> "LocalServer":
        """Begin to listen; return self."""
        self._thread.start()
        self._started.wait()
        if self._problem is not None:
            raise self._problem
        return self

    def wait(self, seconds: float | None = None) -> bool:
        """Return when the last page has been closed: True, or False if it takes longer."""
        return self._ended.wait(seconds)

    def close(self) -> None:
        """End the server."""
        if not self._ended.is_set():
            self._loop.call_soon_threadsafe(self._stop)
            self._ended.wait(10)

    # In the server's thread -------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
            self._server = self._listen()
        except BaseException as problem:
            self._problem = problem
            self._ended.set()
            self._started.set()
            return
        self._started.set()
        self._loop.call_later(_UNVISITED, self._end_if_unvisited)
        try:
            self._loop.run_forever()
        finally:
            self._server.stop()
            self._loop.run_until_complete(asyncio.sleep(0.05))
            self._loop.close()
            self._ended.set()

    def _listen(self) -> Any:
        logging.getLogger("tornado.access").setLevel(logging.ERROR)
        logging.getLogger("bokeh").setLevel(logging.ERROR)
        pn.extension(notifications=False)
        application = BokehTornado(
            build_applications({self.token: self._visit}, title=self._title, location=True),
            extra_websocket_origins=[f"{ADDRESS}:{self.port}", f"localhost:{self.port}"],
            # A list of pages, or a redirection to the only one, would tell the secret.
            use_index=False,
            redirect_root=False,
            check_unused_sessions_milliseconds=1000,
            unused_session_lifetime_milliseconds=2000,
        )
        http = _PromptServer(application)
        http.add_sockets([self._socket])
        server = BaseServer(IOLoop.current(), application, http)
        server.start()
        return server

    def _visit(self) -> Any:
        self._visited = True
        document = pn.state.curdoc
        self._sessions.add(id(document))
        document.on_session_destroyed(lambda context: self._left(id(document)))
        return self._make()

    def _left(self, document: int) -> None:
        self._sessions.discard(document)
        if not self._sessions:
            self._loop.call_later(_GRACE, self._end_if_alone)

    def _end_if_alone(self) -> None:
        if not self._sessions:
            self._stop()

    def _end_if_unvisited(self) -> None:
        if not self._visited:
            self._stop()

    def _stop(self) -> None:
        self._loop.stop()


def _listening_socket(port: int) -> socket.socket:
    """A socket of the loopback that listens at the port, at any for 0."""
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.setblocking(False)
    try:
        own.bind((ADDRESS, port))
        own.listen(64)
    except (OSError, OverflowError) as problem:
        own.close()
        if getattr(problem, "errno", None) not in (errno.EADDRINUSE, errno.EACCES, None):
            raise
        raise PortTaken(
            f"port {port} is taken or not allowed: name another with --port, or none for a free one"
        ) from problem
    return own
