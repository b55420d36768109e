"""The HTTP server: moto's application, wrapped so that it never returns a 500."""

import json
import logging
import socket
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape

from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_api._internal.models import MotoAPIBackend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from ultracluster_local.instance.state import clear_state
from ultracluster_local.jobs.metadata import answer as metadata
from ultracluster_local.jobs.metadata import is_metadata
from ultracluster_local.server.guard import guarded
from ultracluster_local.server.install import install
from ultracluster_local.services import image_builder, s3_files, tokens
from ultracluster_local.services.rest_json import RestJsonServices

__all__ = ["Server", "forget"]

_LOG = logging.getLogger(__name__)
_HOST = "127.0.0.1"


class _QuietRequestHandler(MotoRequestHandler):  # type: ignore[misc]  # moto has no types
    """moto's request handler without access logs."""

    def log_request(self, *_: Any) -> None:
        return


class Server:
    """moto's server with our extensions, on a thread of this process.

    Args:
        port: Port to listen on; 0 takes a free one.
        key: Access key ID that requests must carry.
        own: Functions that answer requests for paths of the local AWS itself, such as ``/_ultracluster/seed``, from JSON to JSON.

    Raises:
        OSError: If the port is in use.
    """

    def __init__(self, *, port: int, key: str, own: Mapping[str, Callable[[Any], Any]]) -> None:
        install()
        front = _front(_ours_first(DomainDispatcherApplication(create_backend_app)), own)
        # Open the socket here: werkzeug exits the process if the port is in use.
        with socket.create_server((_HOST, port)) as listening:
            taken: int = listening.getsockname()[1]
            self.application = guarded(front, _refuse, key=key, port=taken)
            self._server = make_server(
                _HOST,
                taken,
                self.application,
                threaded=True,
                request_handler=_QuietRequestHandler,
                fd=listening.fileno(),
            )
        self._server.daemon_threads = True
        self.port: int = self._server.port
        self._thread = threading.Thread(target=self._server.serve_forever, name="local-aws", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop listening; state is kept until `forget`."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)


def forget() -> None:
    """Discard the state of all services, moto's and ours."""
    MotoAPIBackend(region_name="global", account_id=DEFAULT_ACCOUNT_ID).reset()
    clear_state()


def _front(
    application: Any, own: Mapping[str, Callable[[Any], Any]]
) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ[tokens.SERVED] = True
        call = environ.get("HTTP_X_AMZ_TARGET") or f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}"
        if environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"] in own:
            try:
                body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
                result = own[environ["PATH_INFO"]](json.loads(body or b"{}"))
            except (KeyError, ValueError) as error:
                return _refusal(environ, start_response, "InvalidRequest", str(error))
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(result).encode()]
        if is_metadata(environ["PATH_INFO"]):
            status, text = metadata(environ)
            start_response(status, [("Content-Type", "text/plain")])
            return [text.encode()]
        begun: list[Any] = []

        def begin(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            # Flask's page for a path of no service; S3's own 404s are XML, or have no body after HEAD.
            page = ("Content-Type", _FLASK_PAGE) in headers and not _asks_s3_for_an_object(environ)
            if status.startswith("404") and page:
                begun.append(status)
                return lambda _: None
            return start_response(status, headers, *rest)

        try:
            answered: Iterable[bytes] = application(environ, begin)
        except Exception as error:  # noqa: BLE001 - whatever fails, never a 500
            _LOG.exception("%s failed", call)
            where = traceback.extract_tb(error.__traceback__)[-1]
            problem = (
                f"{type(error).__name__}: {error} ({where.name}, line {where.lineno} of {where.filename})"
            )
            return _refusal(
                environ, start_response, "LocalAwsFailure", f"The local AWS failed at {call}: {problem}"
            )
        if begun:
            return _refusal(
                environ,
                start_response,
                "InvalidAction",
                f"The local AWS has no {call}; see `ultracluster docs local-aws`.",
            )
        return answered

    return answer


_OURS = RestJsonServices(image_builder.handlers, s3_files.handlers)
"""Services that moto does not have at all."""


def _ours_first(application: Any) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        answered = _OURS.answer(environ)
        if answered is None:
            taken: Iterable[bytes] = application(environ, start_response)
            return taken
        code, body = answered
        headers = [("Content-Type", "application/json"), *([("x-amzn-ErrorType", code)] if code else [])]
        start_response("400 Bad Request" if code else "200 OK", headers)
        return [json.dumps(body).encode()]

    return answer


def _asks_s3_for_an_object(environ: Mapping[str, Any]) -> bool:
    return environ["REQUEST_METHOD"] == "HEAD" and "/s3/" in environ.get("HTTP_AUTHORIZATION", "")


_FLASK_PAGE = "text/html; charset=utf-8"


def _refuse(environ: dict[str, Any], start_response: Any, problem: str) -> Iterable[bytes]:
    message = f"The local AWS refused the request: {problem}."
    return _refusal(environ, start_response, "AccessDenied", message, status="403 Forbidden")


def _refusal(
    environ: dict[str, Any], start_response: Any, code: str, message: str, *, status: str = "400 Bad Request"
) -> Iterable[bytes]:
    xml_services = ("/ec2/", "/s3/", "/iam/", "/sts/", "/sns/", "/cloudformation/")
    if not any(one in environ.get("HTTP_AUTHORIZATION", "") for one in xml_services):
        body = json.dumps({"__type": code, "message": message})
        headers = [("Content-Type", "application/json"), ("x-amzn-ErrorType", code)]
    else:
        error = f"<Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
        # EC2 reads Response/Errors/Error, the other XML services ErrorResponse/Error, S3 the Error itself.
        if "/ec2/" in environ.get("HTTP_AUTHORIZATION", ""):
            body = f"<Response><Errors>{error}</Errors><RequestID>local</RequestID></Response>"
        elif "/s3/" in environ.get("HTTP_AUTHORIZATION", ""):
            body = error
        else:
            body = f"<ErrorResponse>{error}<RequestId>local</RequestId></ErrorResponse>"
        headers = [("Content-Type", "text/xml")]
    start_response(status, headers)
    return [body.encode()]
