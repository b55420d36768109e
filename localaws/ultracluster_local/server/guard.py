"""Refuse requests that do not come from the user: web pages, rebound host names, and callers without the key.

The local AWS runs functions as local processes, so a request can run code. Any page in the user's browser can send
requests to a loopback port, and one whose host name is bound to 127.0.0.1 can also read the answers ("DNS rebinding").
The access key ID identifies the user: each signed or presigned request of an SDK carries it, and no page knows it.
"""

import hmac
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs

from moto.iam.models import iam_backends

from ultracluster_local.errors import quote
from ultracluster_local.jobs.metadata import is_metadata
from ultracluster_local.services.iam.role_sessions import is_session_key

__all__ = ["Application", "Refuse", "guarded"]

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]
"""A WSGI application."""

Refuse = Callable[[dict[str, Any], Any, str], Iterable[bytes]]
"""Answers a refused request with a message."""

_LOG = logging.getLogger(__name__)
_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_CREDENTIALS = (
    "X-Amz-Credential",
    "AWSAccessKeyId",
)  # parameters of presigned URLs, signature versions 4 and 2


def guarded(application: Application, refuse: Refuse, *, key: str, port: int) -> Application:
    """Return an application that answers only requests to this port with a key of this instance.

    Args:
        application: Application to guard.
        refuse: Answers all other requests.
        key: Access key ID of the user.
        port: Port of the server.
    """
    hosts = {f"{name}:{port}" for name in _HOSTS}

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            # moto permits all pages to read answers.
            kept = [header for header in headers if not header[0].lower().startswith("access-control-")]
            return start_response(status, kept, *rest)

        problem = _problem(environ, hosts, key)
        if problem:
            call = quote(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
            _LOG.warning("refused %s: %s", call, problem)
            return refuse(environ, start, problem)
        return application(environ, start)

    return answer


def _problem(environ: Mapping[str, Any], hosts: set[str], key: str) -> str:
    if "HTTP_ORIGIN" in environ:
        return f"it comes from a web page (Origin {quote(environ['HTTP_ORIGIN'])})"
    host = environ.get("HTTP_HOST", "")
    if host.lower() not in hosts:
        return f"its Host is {quote(host)}, not the address of this local AWS"
    if is_metadata(environ["PATH_INFO"]):
        return ""  # whoever knows such a path runs on the node, or has what a job has printed
    found = _access_key(environ)
    if not found:
        return "it carries no access key"
    if not hmac.compare_digest(found.encode(), key.encode()) and not _is_issued(found):
        return "its access key is not that of this local AWS, which changes at each start; run `ultracluster local env`"
    return ""


def _access_key(environ: Mapping[str, Any]) -> str:
    """Return the access key ID of a request; empty without one."""
    scheme, _, rest = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme == "AWS4-HMAC-SHA256":
        _, _, scope = str(rest).partition("Credential=")
        return scope.partition("/")[0]
    if scheme == "AWS":
        return str(rest).partition(":")[0]
    if scheme == "Bearer":
        return str(rest)
    query = parse_qs(environ.get("QUERY_STRING", ""))
    return next((query[name][0].partition("/")[0] for name in _CREDENTIALS if name in query), "")


def _is_issued(key: str) -> bool:
    """Return whether this instance issued the key, such as for a role that the CDK CLI assumed."""
    backends = [backend for account in list(iam_backends.values()) for backend in list(account.values())]
    return is_session_key(key) or any(key in backend.access_keys for backend in backends)
