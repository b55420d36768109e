"""Tokens that make a request idempotent: a repeated request is answered as the first one, another one with its token is refused.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Run_Instance_Idempotency.html,
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html and
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html (2026-11)
"""

import functools
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

import flask
from moto.core.responses import BaseResponse

from ultracluster_local.instance.clients import service_model
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.checks import given_parameters
from ultracluster_local.services.handlers import ServiceError, answered

__all__ = ["SERVED", "install"]

SERVED: Final = "ultracluster_local.served"
"""What the local AWS sets in the WSGI environment of its requests: moto's mock_aws in the same process stays as it is."""

_SERVICES: Final = {
    "batch": ("ClientException", timedelta(hours=8)),  # API_UpdateConsumableResource
    "dynamodb": ("IdempotentParameterMismatchException", timedelta(minutes=10)),
    "ec2": ("IdempotentParameterMismatch", timedelta.max),
    "fsx": ("IncompatibleParameterError", timedelta.max),
}
"""Code of the refusal, and how long a token is known."""
_TOKENS: Final = ("ClientToken", "ClientRequestToken", "clientToken")


def install() -> None:
    """Answer a repeated request of these services without executing it again."""
    BaseResponse.call_action = _once(BaseResponse.call_action)


def _once(call_action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(call_action)
    def answer(response: Any) -> Any:
        service = response.boto3_service_name
        served = flask.has_request_context() and SERVED in flask.request.environ
        if service not in _SERVICES or not served:
            return call_action(response)
        operation = response._get_action()  # noqa: SLF001 - moto has no public name for it
        if operation not in service_model(service).operation_names:
            return call_action(response)
        given = given_parameters(response, operation)
        token = next((given.pop(name) for name in _TOKENS if name in given), None)
        if token is None:
            return call_action(response)
        code, validity = _SERVICES[service]
        known: dict[tuple[str, str], Any] = region_state(
            f"tokens:{service}", region=response.region, new=dict
        )
        at, asked, before = known.get((operation, token), (None, None, None))
        if at is not None and CLOCK.now() - at < validity:
            if asked == given:
                return before
            error = ServiceError(
                code, "The request uses the token of a previous request with other parameters."
            )
            return answered(response, error)
        first = call_action(response)
        if int(first[1].get("status", first[0])) < HTTPStatus.MULTIPLE_CHOICES:
            known[operation, token] = (CLOCK.now(), given, first)
        return first

    return answer
