"""Handlers of API operations that moto lacks: functions from request parameters to a response.

moto parses requests and serializes responses by botocore's model of the service, so handlers see and
return plain mappings with the API's names.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.parse import XFormedDict
from moto.core.responses import ActionResult
from moto.core.utils import camelcase_to_underscores

from ultracluster_local.instance.environment import ACCOUNT

__all__ = [
    "HANDLERS",
    "Handler",
    "Handlers",
    "Request",
    "ServiceError",
    "answered",
    "hex_id",
    "page",
    "parsed_parameters",
    "tags_of",
]


class ServiceError(ServiceException):  # type: ignore[misc]  # moto has no types
    """An error response of a service; never a 500, which SDKs retry for half a minute."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """An API request.

    Attributes:
        operation: API operation, such as ``DescribePlacementGroups``.
        parameters: Parameters by the API's names, with the types of its model.
        region: Region.
    """

    operation: str
    parameters: Mapping[str, Any]
    region: str
    account: str = ACCOUNT

    def arn(self, service: str, resource: str) -> str:
        """Return the ARN of a resource in this Region and account."""
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"


Handler = Callable[[Request], Mapping[str, Any]]


HANDLERS: "list[Handlers]" = []
"""Handlers of all modules that have been imported."""


class Handlers:
    """Handlers of one service's operations.

    Args:
        service: Service name of boto3.
    """

    def __init__(self, *, service: str) -> None:
        self.service = service
        self.table: dict[str, Handler] = {}
        HANDLERS.append(self)

    def __call__(self, operation: str) -> Callable[[Handler], Handler]:
        """Return a decorator that registers the handler of `operation`."""

        def register(handler: Handler) -> Handler:
            self.table[operation] = handler
            return handler

        return register

    def install(self, response_class: type) -> None:
        """Install the handlers into moto's `response_class`."""
        for operation, handler in self.table.items():
            setattr(response_class, camelcase_to_underscores(operation), _as_method(operation, handler))


def answered(response: Any, error: ServiceError) -> Any:
    """Return the answer of moto's `response` to a request that is refused."""
    status, headers, body = response.serialized(ActionResult(error))
    headers["status"] = str(status)
    return status, headers, body


def parsed_parameters(response: Any) -> dict[str, Any]:
    """Return the parameters of a request to moto's `response`, without those of its path."""
    response.parse_parameters(response.normalized_request)
    parsed = response.params
    return parsed.original_dict() if isinstance(parsed, XFormedDict) else dict(parsed)


def _request(response: Any, operation: str) -> Request:
    # moto parses times as naive ones; they are UTC.
    parameters = {
        name: value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value
        for name, value in parsed_parameters(response).items()
    }
    return Request(operation=operation, parameters=parameters, region=response.region)


def _as_method(operation: str, handler: Handler) -> Callable[[Any], ActionResult]:
    def method(response: Any) -> ActionResult:
        request = _request(response, operation)
        try:
            return ActionResult(handler(request))
        except KeyError as absent:  # EC2's model requires little of what EC2 requires
            name = absent.args[0]
            if (
                response.boto3_service_name != "ec2"
                or name in request.parameters
                or not str(name)[:1].isupper()
            ):
                raise
            raise ServiceError("MissingParameter", f"The request must contain the parameter {name}") from None

    return method


def hex_id(prefix: str, *, length: int = 17) -> str:
    """Generate an ID such as ``cr-0123456789abcdef0``."""
    return f"{prefix}-{uuid.uuid4().hex[:length]}"


def tags_of(parameters: Mapping[str, Any], *, resource_type: str) -> list[dict[str, str]]:
    """Return the tags of an EC2 request for `resource_type`."""
    return [
        {"Key": tag["Key"], "Value": tag.get("Value", "")}
        for specification in parameters.get("TagSpecifications") or []
        if specification.get("ResourceType") == resource_type
        for tag in specification.get("Tags") or []
    ]


def page(
    items: list[Any],
    *,
    parameters: Mapping[str, Any],
    key: str,
    default: int = 100,
    cursor: str = "NextToken",
) -> dict[str, Any]:
    """Return the page of `items` that ``MaxResults`` or ``MaxRecords`` and the token of a request ask for."""
    try:
        start = int(parameters.get(cursor) or 0)
    except ValueError:
        raise ServiceError("InvalidNextToken", "The token is invalid.") from None
    asked = (parameters.get(name) for name in ("MaxResults", "maxResults", "MaxRecords"))
    size = int(next(filter(None, asked), default))
    answer: dict[str, Any] = {key: items[start : start + size]}
    if start + size < len(items):
        answer[cursor] = str(start + size)
    return answer
