"""How the local AWS refuses a call or a value."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local.services.handlers import ServiceError


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
