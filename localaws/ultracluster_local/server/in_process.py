"""In-process requests of the local AWS to itself: botocore's, answered by the WSGI application without a socket.

A deployment sends several requests for each resource. Over HTTP, each takes a connection and a
thread, a third of the deployment time.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import botocore.awsrequest

__all__ = ["Application", "before_send_handler"]

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]
"""A WSGI application."""


def before_send_handler(application: Application) -> Callable[..., Any]:
    """Return a handler of botocore's ``before-send`` event that has `application` answer.

    Args:
        application: WSGI application of the server.
    """

    def answer(request: Any, **_: Any) -> Any:
        headers = {name.upper().replace("-", "_"): _text(value) for name, value in request.headers.items()}
        if any("_" in name for name in request.headers):
            return None  # only an HTTP server preserves the spelling of headers
        said: list[tuple[str, list[tuple[str, str]]]] = []

        def start_response(status: str, headers: list[tuple[str, str]], *_: Any) -> Callable[[bytes], None]:
            said.append((status, headers))
            return lambda _: None

        body = _body(request.body)
        parts = application(_environ(request.method, request.url, headers, body), start_response)
        content = b"".join(parts)
        if close := getattr(parts, "close", None):
            close()
        status, answered = said[-1]
        return botocore.awsrequest.AWSResponse(
            request.url, int(status.split()[0]), dict(answered), _Content(content)
        )

    return answer


def _environ(method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Return the WSGI environment of a request, as werkzeug's server passes it to moto."""
    where = urlsplit(url)
    target = where.path + (f"?{where.query}" if where.query else "")
    environ = {
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": where.scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(where.path or "/").decode("latin-1"),
        "QUERY_STRING": where.query,
        "REQUEST_URI": target,
        "RAW_URI": target,
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": str(where.port or 80),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": where.netloc,
    }
    own = {"CONTENT_TYPE", "CONTENT_LENGTH"}
    environ |= {name if name in own else f"HTTP_{name}": value for name, value in headers.items()}
    environ.pop("HTTP_TRANSFER_ENCODING", None)  # the body is already complete
    return environ | {"CONTENT_LENGTH": str(len(body))}


def _body(body: Any) -> bytes:
    if hasattr(body, "read"):
        body = body.read()
    return body.encode() if isinstance(body, str) else bytes(body or b"")


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


class _Content(io.BytesIO):
    """Response body in the form botocore reads."""

    def stream(self) -> Iterator[bytes]:
        yield self.read()
