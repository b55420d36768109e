"""How the local AWS refuses a call or a value."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.values import refuse_values


def refusal(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    """Return code and message of the error that a call of boto3 is answered with."""
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    error = caught.value.response["Error"]
    return str(error["Code"]), str(error["Message"])


def said(check: Callable[..., Any], *given: Any, **settings: Any) -> str:
    """Return code and message of the error that a check raises; empty if it takes what is given."""
    try:
        check(*given, **settings)
    except ServiceError as error:
        return f"{error.code}: {error.message}"
    return ""


def said_of_values(service: str, operation: str, **given: Any) -> str:
    """Return code and message of the error that the rules of values.toml raise; empty if they take what is given."""
    return said(refuse_values, service, Request(operation=operation, parameters=given, region="us-east-1"))


def verdict(name: str, said: str, refused: Mapping[str, Mapping[str, str]]) -> str:
    """Return what became of a template: `deployed`, the kind of its refusal, or `wrong` if it is another one or has none.

    Args:
        name: Name of the template.
        said: Why it was refused; empty if it was not.
        refused: Words of the refusals that are right, by kind and name.
    """
    kind = next((kind for kind, table in refused.items() if name in table), "deployed")
    right = refused[kind][name] in said if kind != "deployed" else not said
    return kind if right else "wrong"
