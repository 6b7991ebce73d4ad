"""The local server: who may come in, at which address, and when it ends."""

import http.client
import socket

import pytest

from isthmus.explorer.exploration import exploration_of
from isthmus.explorer.page.answering import first_html
from isthmus.explorer.page.app import session
from isthmus.explorer.page.server import LocalServer, PortTaken
from isthmus.explorer.rows import make_rows

# Older releases of Panel know no other word for it.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture(scope="module")
def server(plane, digits):
    running = LocalServer(title="t").start()
    running.show(session(exploration_of(plane, make_rows(*digits)), None, "t"))
    yield running
    running.close()
    assert running.wait(0)


def answer(server, path, **headers):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    line.request("GET", path, headers=headers)
    found = line.getresponse()
    read = found.status, found.read()
    line.close()
    return read


def test_only_the_secret_address_has_the_page(server):
    assert answer(server, f"/{server.token}")[0] == 200
    for path in ("/", "/index.html", f"/{server.token[:-1]}", "/autoload.js", "/metadata"):
        status, body = answer(server, path)
        assert status == 404
        assert server.token.encode() not in body
    assert len(server.token) >= 24


def test_it_listens_on_the_loopback_only(server):
    assert server.address.startswith("http://127.0.0.1:")
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=""):
        socket.create_connection((own, server.port), timeout=2).close()


@pytest.mark.parametrize(("origin", "status"), [("http://evil.example", 403), (None, 101)])
def test_the_socket_checks_where_a_page_is_from(server, origin, status):
    headers = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        "Origin": origin or f"http://127.0.0.1:{server.port}",
    }
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    line.request("GET", f"/{server.token}/ws", headers=headers)
    found = line.getresponse()
    assert found.status == status
    found.close()
    line.close()


def test_a_port_that_is_taken_is_told(server):
    with pytest.raises(PortTaken, match=rf"port {server.port} is taken .* --port"):
        LocalServer(port=server.port)


def test_the_first_picture_is_there_before_the_page(plane, digits):
    e = exploration_of(plane, make_rows(*digits))
    tag = "<script>stolen = 1</script>"
    server = LocalServer(title=tag, first=first_html(e, None)).start()
    status, body = answer(server, f"/{server.token}")
    assert status == 200
    assert b'aria-label="object at' in body
    assert tag.encode() not in body
    assert answer(server, "/")[0] == 404
    assert answer(server, f"/{server.token}/ws")[0] == 404
    server.show(session(e, None, "t"))
    assert b"bokeh.min.js" in answer(server, f"/{server.token}")[1]
    server.close()
    assert server.wait(0)
