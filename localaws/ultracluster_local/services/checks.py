"""Checks of requests that AWS refuses and moto accepts, made before moto or our handlers see them.

A check is a function of one request that raises a `ServiceError` with AWS's code and words. Checks of a service stand in
the module of that service.
"""

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

from moto.core.exceptions import ServiceException
from moto.core.parse import PROTOCOL_PARSERS, RequestParserError
from moto.core.responses import ActionResult, BaseResponse
from moto.s3.responses import S3Response

from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.handlers import (
    HANDLERS,
    Handler,
    Request,
    ServiceError,
    answered,
    parsed_parameters,
)
from ultracluster_local.services.iam.role_sessions import authorize, is_held
from ultracluster_local.services.model_constraints import model_refusal

__all__ = ["Check", "Checks", "given_parameters", "install"]

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
    """Make moto compare requests with the model of their service, and call the registered checks."""
    BaseResponse.call_action = _checking(BaseResponse.call_action)
    # moto has no other place
    S3Response._bucket_response = _checking_s3(S3Response._bucket_response, _BUCKET_PATHS)  # noqa: SLF001
    S3Response._key_response = _checking_s3(S3Response._key_response, _KEY_PATHS)  # noqa: SLF001


def _refusal(request: Request, service: str) -> ServiceError | None:
    try:
        authorize(service, request)
        for check in _CHECKS.get((service, request.operation), ()):
            check(request)
    except ServiceException as error:  # of moto, or ours
        return ServiceError(error.code, error.message)
    return None


def _checking(call_action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(call_action)
    def checked(response: Any) -> Any:
        operation = response._get_action()  # noqa: SLF001 - moto has no public name for it
        service = response.boto3_service_name
        wrong = model_refusal(response, service, operation)
        if wrong is not None:
            return answered(response, wrong)
        held = is_held() and operation in service_model(service).operation_names
        if (service, operation) not in _CHECKS and not held:
            return call_action(response)
        given = given_parameters(response, operation)
        request = Request(operation=operation, parameters=given, region=response.region)
        error = _refusal(request, service)
        if error is None:
            return call_action(response)
        return answered(response, error)

    return checked


def given_parameters(response: Any, operation: str) -> dict[str, Any]:
    """Return the parameters of a request to moto by the names of the service's model."""
    given = parsed_parameters(response)
    path = response.normalized_request.path
    return {**given, **_path_parameters(response.boto3_service_name, operation, path)}


def _path_parameters(service: str, operation: str, path: str) -> Mapping[str, str]:
    """Return the parameters in the path of a REST request; moto names them otherwise than the model."""
    model = service_model(service).operation_model(operation)
    template = re.escape(model.http["requestUri"].partition("?")[0])
    found = re.fullmatch(
        re.sub(r"\\\{(\w+)\\\+?\\\}", r"(?P<\1>.+)", template), unquote(path).rstrip("/") or "/"
    )
    return found.groupdict() if found else {}


_BUCKET_PATHS = frozenset({"/{Bucket}", ""})  # botocore removes the bucket from the path of an operation
_KEY_PATHS = frozenset({"/{Bucket}/{Key+}", "/{Key+}"})


def _checking_s3(original: Callable[..., Any], paths: frozenset[str]) -> Callable[..., Any]:
    """Check requests for buckets or objects, which moto tells apart by their query string instead of an action."""

    @functools.wraps(original)
    def answer(response: Any, request: Any, full_url: str) -> Any:
        bucket = unquote(response.parse_bucket_name_from_url(request, full_url) or "")
        operation = _s3_operation(request, full_url, paths) if bucket else "ListBuckets"
        handler = _s3_handlers().get(str(operation))
        if operation is None or not (handler or ("s3", operation) in _CHECKS or is_held()):
            return original(response, request, full_url)
        try:
            place = {"Bucket": bucket, "Key": unquote(request.path).partition(f"/{bucket}/")[2]}
            given = {
                **_s3_parameters(operation, request, response),
                **{name: one for name, one in place.items() if one},
            }
        except RequestParserError:  # moto says what is wrong with it
            return original(response, request, full_url)
        asked = Request(operation=operation, parameters=given, region=response.region)
        error = _refusal(asked, "s3")
        if error is None and handler is None:
            return original(response, request, full_url)
        response.data["Action"] = operation
        return response.serialized(ActionResult(error or (handler(asked) if handler else {})))

    return answer


@functools.cache
def _s3_handlers() -> Mapping[str, Handler]:
    return {name: handler for one in HANDLERS if one.service == "s3" for name, handler in one.table.items()}


@functools.cache
def _s3_routes(paths: frozenset[str]) -> Mapping[str, tuple[str, frozenset[str]]]:
    """Return the operations on `paths`, with their method and what a query string and headers must have."""
    routes = {}
    for model in map(service_model("s3").operation_model, service_model("s3").operation_names):
        path, _, query = model.http["requestUri"].partition("?")
        if path in paths:
            members = [
                model.input_shape.members[name].serialization for name in model.input_shape.required_members
            ]
            needs = {
                one["name"].lower() for one in members if one.get("location") in {"header", "querystring"}
            }
            routes[model.name] = (
                model.http["method"],
                frozenset({*map(str.lower, parse_qs(query, keep_blank_values=True)), *needs}),
            )
    return routes


def _s3_operation(request: Any, full_url: str, paths: frozenset[str]) -> str | None:
    """Return the operation that asks for most of what a request has."""
    keys = {
        one.lower()
        for one in (*parse_qs(urlparse(full_url).query, keep_blank_values=True), *request.headers.keys())
    }
    found = [
        (len(needs), name)
        for name, (method, needs) in _s3_routes(paths).items()
        if method == request.method and needs <= keys
    ]
    return max(found)[1] if found else None


def _s3_parameters(operation: str, request: Any, response: Any) -> Mapping[str, Any]:
    model = service_model("s3").operation_model(operation)
    body = b"" if model.has_streaming_input else response.body or b""
    parsed = PROTOCOL_PARSERS["rest-xml"](model, map_type=dict).parse(
        {
            "method": request.method,
            "values": request.values,
            "headers": request.headers,
            "body": re.sub(rb"^\s*<\?xml[^>]*\?>", b"", body),
            "url_path": request.path,
            "url_params": {},
        }
    )
    return dict(parsed)
