"""User data of launch templates and instances."""

import base64
import binascii

from ultracluster_local.services.handlers import ServiceError

__all__ = ["check_user_data", "decoded"]

_MOST_BYTES = 16 * 1024


def decoded(user_data: str) -> str:
    """Decode user data.

    Args:
        user_data: Text in base64.
    """
    return base64.b64decode(user_data).decode("utf-8", errors="replace")


def check_user_data(user_data: str, *, too_long: str = "InvalidParameterValue") -> None:
    """Refuse user data that EC2 refuses, with the error code `too_long` if that is its fault.

    The limit is that of https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html, before encoding.

    Raises:
        ServiceError: If it is not base64, or too long.
    """
    try:
        raw = base64.b64decode(user_data, validate=True)
    except binascii.Error:
        raise ServiceError("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") from None
    if len(raw) > _MOST_BYTES:
        raise ServiceError(too_long, f"User data is limited to {_MOST_BYTES} bytes")
