"""Checks of requests that AWS refuses and moto accepts, made before moto or our handlers see them.

A check is a function of one request that raises a `ServiceError` with AWS's code and words. Checks of a service stand in
the module of that service.
"""

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

from moto.core.parse import PROTOCOL_PARSERS, XFormedDict
from moto.core.responses import ActionResult, BaseResponse
from moto.s3.responses import S3Response

from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.handlers import Request, ServiceError

__all__ = ["Check", "Checks", "install"]

Check = Callable[[Request], None]

_CHECKS: dict[tuple[str, str], list[Check]] = {}


class Checks:
    """Checks of one service's requests.

    Args:
        service: Service name of boto3.
    """

    def __init__(self, *, service: str) -> None:
        self._service = service

    def __call__(self, *operations: str) -> Callable[[Check], Check]:
        """Return a decorator that registers a check of `operations`."""

        def register(check: Check) -> Check:
            for operation in operations:
                _CHECKS.setdefault((self._service, operation), []).append(check)
            return check

        return register


def install() -> None:
    """Make moto call the registered checks."""
    BaseResponse.call_action = _checking(BaseResponse.call_action)
    S3Response._bucket_response = _checking_buckets(S3Response._bucket_response)  # noqa: SLF001 - moto has no other place


def _refusal(request: Request, service: str) -> ServiceError | None:
    try:
        for check in _CHECKS.get((service, request.operation), ()):
            check(request)
    except ServiceError as error:
        return error
    return None


def _checking(call_action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(call_action)
    def checked(response: Any) -> Any:
        operation = response._get_action()  # noqa: SLF001 - moto has no public name for it
        if (response.boto3_service_name, operation) not in _CHECKS:
            return call_action(response)
        response.parse_parameters(response.normalized_request)
        parsed = response.params
        given = parsed.original_dict() if isinstance(parsed, XFormedDict) else dict(parsed)
        path = response.normalized_request.path
        given = {**given, **_path_parameters(response.boto3_service_name, operation, path)}
        request = Request(operation=operation, parameters=given, region=response.region)
        error = _refusal(request, response.boto3_service_name)
        if error is None:
            return call_action(response)
        status, headers, body = response.serialized(ActionResult(error))
        headers["status"] = str(status)
        return status, headers, body

    return checked


def _path_parameters(service: str, operation: str, path: str) -> Mapping[str, str]:
    """Return the parameters in the path of a REST request; moto names them otherwise than the model."""
    model = service_model(service).operation_model(operation)
    template = re.escape(model.http["requestUri"].partition("?")[0])
    found = re.fullmatch(
        re.sub(r"\\\{(\w+)\\\+?\\\}", r"(?P<\1>.+)", template), unquote(path).rstrip("/") or "/"
    )
    return found.groupdict() if found else {}


def _checking_buckets(original: Callable[..., Any]) -> Callable[..., Any]:
    """Check requests for buckets, which moto tells apart by their query string instead of an action."""

    @functools.wraps(original)
    def answer(response: Any, request: Any, full_url: str) -> Any:
        bucket = response.parse_bucket_name_from_url(request, full_url)
        operation = _bucket_operation(request.method, full_url) if bucket else None
        if operation is None:
            return original(response, request, full_url)
        given = {**_bucket_parameters(operation, request, response), "Bucket": unquote(bucket)}
        asked = Request(operation=operation, parameters=given, region=response.region)
        error = _refusal(asked, "s3")
        if error is None:
            return original(response, request, full_url)
        response.data["Action"] = operation
        return response.serialized(ActionResult(error))

    return answer


@functools.cache
def _bucket_routes() -> Mapping[tuple[str, frozenset[str]], str]:
    """Return the operations on buckets that have a check, by method and the keys of their query string."""
    model = service_model("s3")
    routes = {}
    for service, operation in _CHECKS:
        if service == "s3":
            http = model.operation_model(operation).http
            path, _, query = http["requestUri"].partition("?")
            if path in {
                "/{Bucket}",
                "",
            }:  # botocore removes the bucket from the path of an operation
                routes[http["method"], frozenset(parse_qs(query, keep_blank_values=True))] = operation
    return routes


def _bucket_operation(method: str, full_url: str) -> str | None:
    keys = frozenset(parse_qs(urlparse(full_url).query, keep_blank_values=True))
    return _bucket_routes().get((method, keys))


def _bucket_parameters(operation: str, request: Any, response: Any) -> Mapping[str, Any]:
    model = service_model("s3").operation_model(operation)
    parsed = PROTOCOL_PARSERS["rest-xml"](model, map_type=dict).parse(
        {
            "method": request.method,
            "values": request.values,
            "headers": request.headers,
            "body": re.sub(rb"^\s*<\?xml[^>]*\?>", b"", response.body or b""),
            "url_path": request.path,
            "url_params": {},
        }
    )
    return dict(parsed)
