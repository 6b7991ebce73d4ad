"""The local server: loopback only, a secret in the address, ended with its last page."""

import asyncio
import errno
import logging
import secrets
import socket
import threading
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler

from isthmus.explorer.page.markup import STYLE
from isthmus.explorer.tables import MOST_BYTES

ADDRESS = "127.0.0.1"
# Seconds without any page after which the server ends; a page that is loaded anew is quicker.
_GRACE = 4.0
_BETWEEN_LOOKS = 0.5
# Seconds that a browser may take from a page to its socket.
_PATIENCE = 60.0
# Nobody came at all: the browser may have to be opened by hand.
_UNVISITED = 24 * 3600.0
# Somebody came, and left before the page that can be walked was ready.
_UNCLAIMED = 15.0
_OPENING = Path(__file__).with_name("opening.html")


class PortTaken(OSError):
    """Another program listens at the port."""


class _PromptServer(HTTPServer):
    """Sends small pieces at once: joined with others, an answer would come 40 ms later."""

    def handle_stream(self, stream: Any, address: Any) -> None:
        stream.set_nodelay(True)
        stream.set_nodelay = lambda value: None  # which is otherwise undone after each request
        super().handle_stream(stream, address)


class _FirstPage(RequestHandler):
    """The first picture, until the page that can be walked is ready."""

    def initialize(self, server: "LocalServer") -> None:
        self._server = server

    def get(self) -> None:
        self._server.was_opened = True
        self.set_header("Cache-Control", "no-store")
        self.write(self._server.first_page())


class _Ready(RequestHandler):
    """Answers as soon as the page that can be walked is there."""

    def initialize(self, server: "LocalServer") -> None:
        self._server = server

    async def get(self) -> None:
        await self._server.ready.wait()
        self.write("ready")


class LocalServer:
    """Serves one page at a secret address of this machine until it is closed.

    Until :meth:`show` tells how the page is made, visitors see its first pictures: the libraries
    that make the page take longer to load than most models.

    Parameters
    ----------
    port : int
        0 takes a free one.
    title : str
    first : str
        The first pictures, as a piece of a page.
    stay : bool
        Whether it goes on when its last page is closed.
    """

    def __init__(self, *, port: int = 0, title: str = "", first: str = "", stay: bool = False):
        self._title, self._first, self._stay = title, first, stay
        self._socket = _listening_socket(port)
        self.port = int(self._socket.getsockname()[1])
        self.token = secrets.token_urlsafe(18)
        self._started, self._ended = threading.Event(), threading.Event()
        self._problem: BaseException | None = None
        self._visited = False
        self.was_opened = False
        self._server: Any = None
        self._connected: set[Any] = set()
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

    def show(self, make: Callable[[], Any]) -> None:
        """Serve what ``make`` returns for each visitor."""
        import panel as pn

        # Not pn.extension(), which would load Panel into the notebook too, from the network.
        pn.config.notifications = False
        shown = threading.Event()
        self._make = make
        self._loop.call_soon_threadsafe(self._serve, shown)
        shown.wait()
        if self._problem is not None:
            raise self._problem

    def first_page(self) -> str:
        """Return the page with the first pictures."""
        pieces = _OPENING.read_text(encoding="utf-8").split("%%")
        parts = {"TITLE": escape(self._title), "FIRST": self._first, "STYLE": STYLE}
        # Every second piece is a name, so that nothing within the parts is taken for one.
        return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))

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
            self._http = self._listen()
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
            self._http.stop() if self._server is None else self._server.stop()
            self._loop.run_until_complete(asyncio.sleep(0.05))
            self._loop.close()
            self._ended.set()

    def _listen(self) -> Any:
        logging.getLogger("tornado.access").setLevel(logging.ERROR)
        self.ready = asyncio.Event()
        own = {"server": self}
        application = Application(
            [(f"/{self.token}", _FirstPage, own), (f"/{self.token}/ready", _Ready, own)]
        )
        http = _PromptServer(application)
        http.add_sockets([self._socket])
        return http

    def _serve(self, shown: threading.Event) -> None:
        try:
            self._server = self._page_server()
            self._watch()
        except BaseException as problem:
            self._problem = problem
        finally:
            shown.set()
            self.ready.set()
        if self.was_opened:
            self._loop.call_later(_UNCLAIMED, self._end_if_unvisited)

    def _page_server(self) -> Any:
        from bokeh.server.server import BaseServer
        from bokeh.server.tornado import BokehTornado
        from panel.io.application import build_applications

        logging.getLogger("bokeh").setLevel(logging.ERROR)
        application = BokehTornado(
            build_applications({self.token: self._visit}, title=self._title, location=True),
            extra_websocket_origins=[f"{ADDRESS}:{self.port}", f"localhost:{self.port}"],
            # A list of pages, or a redirection to the only one, would tell the secret.
            use_index=False,
            # A table that is too large is told so; a socket that breaks off would say nothing.
            websocket_max_message_size_bytes=5 * MOST_BYTES,
            redirect_root=False,
            check_unused_sessions_milliseconds=1000,
            # A slow browser comes back for what it was promised; a session made anew then would
            # ask the network for its styles.
            unused_session_lifetime_milliseconds=int(1000 * _PATIENCE),
        )
        self._http.request_callback = application
        server = BaseServer(IOLoop.current(), application, self._http)
        server.start()
        self._alone_since = self._loop.time()
        return server

    def _visit(self) -> Any:
        import panel as pn

        self._visited = True
        document = pn.state.curdoc
        if document is not None and document.session_context is not None:
            # A page may come and go between two looks at the sessions.
            own = document.session_context.id
            document.on_event("document_ready", lambda event: self._connected.add(own))
        return self._make()

    def _watch(self) -> None:
        """End when no page has been open for a while; a page that still loads counts as open."""
        now = self._loop.time()
        sessions = self._server.get_sessions(f"/{self.token}")
        self._connected |= {one.id for one in sessions if one.connection_count}
        if any(one.connection_count or one.id not in self._connected for one in sessions):
            self._alone_since = now
        if self._visited and not self._stay and now - self._alone_since > _GRACE:
            self._stop()
        else:
            self._loop.call_later(_BETWEEN_LOOKS, self._watch)

    def _end_if_unvisited(self) -> None:
        if not self._visited and not self._stay:
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
