"""What goes wrong in a drill: faults of AWS on the wire, of the market, of nodes and of people's own machines, at random places."""

import io
import json
import re
import socket
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from ultracluster_local import LocalAws

__all__ = ["COMMAND_FAULTS", "FUNCTION_FAULTS", "Wire", "WireFault", "names"]

PERSON = "tests of ultracluster"
"""User agent of this process (tests/conftest.py), which types for a person; functions and jobs are other processes."""

COMMAND_FAULTS = ("throttled", "internal", "lost", "lost-after")
"""AWS throttles, fails, or is not reached; ``lost-after``: it has done what was asked, and its answer is lost."""

FUNCTION_FAULTS = ("throttled", "internal", "lost")

_SAID = {
    "throttled": r"Rate exceeded|Throttling|TooManyRequests|RequestLimitExceeded|SlowDown",
    "internal": r"InternalFailure|InternalError|An internal error|ServiceUnavailable|\b50[03]\b",
    "lost": r"Connection was closed|Could not connect|Connection aborted|ConnectionClosed|connection",
}


def names(kind: str, said: str) -> bool:
    """Whether a message names a fault."""
    return re.search(_SAID[kind.partition("-")[0]], re.sub(r"\s+", " ", said)) is not None


@dataclass
class WireFault:
    """A fault of the first operation that a caller calls, until it is taken away.

    Attributes:
        kind: One of `COMMAND_FAULTS`.
        by_person: Whether the caller is a person's command, and not a function.
        operation: The operation that fails; empty until it is met.
        struck: Number of requests that failed.
    """

    kind: str
    by_person: bool = True
    operation: str = ""
    struck: int = 0

    def strikes(self, operation: str) -> bool:
        """Whether it strikes a request."""
        self.operation = self.operation or operation
        self.struck += self.operation == operation
        return self.operation == operation


class Wire:
    """The wire to the local AWS, on which a fault may be put; it counts the purchases that arrive."""

    def __init__(self, local: LocalAws) -> None:
        server: Any = local._server._server  # type: ignore[union-attr]
        self._application, self._server = server.app, server
        self.fault: WireFault | None = None
        self.bought: list[str] = []
        self.killed = False
        self._victim: subprocess.Popen[bytes] | None = None
        server.app = self

    def remove(self) -> None:
        self._server.app = self._application

    def kill_at_purchase(self, buyer: subprocess.Popen[bytes]) -> None:
        """Kill a process when its purchase is done, before it hears of it."""
        self._victim = buyer

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        service, operation, body = _operation(environ)
        fault = self.fault
        by_person = PERSON in environ.get("HTTP_USER_AGENT", "")
        strikes = bool(fault and service and fault.by_person is by_person and fault.strikes(operation))
        if strikes and fault and fault.kind in {"throttled", "internal"}:
            return _error(start_response, service, fault.kind)
        if strikes and fault and fault.kind == "lost":
            return _hang_up(environ)
        purchase = operation.startswith("PurchaseCapacityBlock") and b"DryRun=true" not in body
        answered = self._application(environ, start_response)
        if purchase:
            self.bought.append(operation)
            if self._victim:
                self._victim.kill()
                self._victim.wait()
                self._victim, self.killed = None, True
        if strikes:
            return _hang_up(environ)
        return answered


def _operation(environ: dict[str, Any]) -> tuple[str, str, bytes]:
    """Return service, operation and body of a request; no service for one of the local AWS itself."""
    scope = re.search(r"Credential=[^/]+/[^/]+/[^/]+/([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
    if scope is None or environ["PATH_INFO"].startswith("/_ultracluster"):
        return "", environ["PATH_INFO"], b""
    if target := environ.get("HTTP_X_AMZ_TARGET"):
        return scope[1], target.rpartition(".")[2], b""
    if scope[1] in {"ec2", "sts", "iam", "sns", "cloudformation", "autoscaling", "monitoring", "sqs"}:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        action = parse_qs(body.decode("utf-8", "replace")).get("Action", [""])[0]
        return scope[1], action or environ["PATH_INFO"].rpartition("/")[2], body
    return scope[1], f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}", b""


_QUERY = frozenset({"sts", "iam", "sns", "cloudformation", "autoscaling"})
_THROTTLES = {
    "ec2": ("503 Slow", "RequestLimitExceeded", "Request limit exceeded."),
    "s3": ("503 Slow", "SlowDown", "Please reduce your request rate."),
    **dict.fromkeys(_QUERY, ("400 Bad Request", "Throttling", "Rate exceeded")),
}


def _error(start_response: Any, service: str, kind: str) -> list[bytes]:
    """Answer in the form of a service."""
    status, code, message = ("500 Internal", "InternalFailure", "An internal error has occurred")
    if kind == "throttled":
        json_throttle = ("400 Bad Request", "ThrottlingException", "Rate exceeded")
        status, code, message = _THROTTLES.get(service, json_throttle)
    body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    if service == "ec2":
        body = f"<Response><Errors>{body}</Errors><RequestID>drill</RequestID></Response>"
    elif service in _QUERY:
        body = f"<ErrorResponse>{body}</ErrorResponse>"
    elif service != "s3":
        body = json.dumps({"__type": code, "message": message})
    kind_of_body = "text/xml" if body[0] == "<" else "application/json"
    start_response(status, [("Content-Type", kind_of_body), ("x-amzn-ErrorType", code)])
    return [body.encode()]


def _hang_up(environ: dict[str, Any]) -> Iterable[bytes]:
    with suppress(OSError):
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionResetError("the drill has cut the wire")
