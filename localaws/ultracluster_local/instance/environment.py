"""Environment variables for clients of the local AWS, and the guard that keeps all requests on this machine."""

import ipaddress
import os
import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

from ultracluster_local.errors import LocalAwsError, quote

__all__ = ["ACCOUNT", "SECRET_KEY", "child_environment", "new_key", "remove_profiles", "require_loopback"]

ACCOUNT = "123456789012"
"""Fake account ID of all local resources."""

SECRET_KEY = "local-aws-secret-key"  # noqa: S105 - fake on purpose; no service outside this machine takes it

_DROPPED_PREFIXES = ("AWS_", "CDK_")
_KEPT = frozenset(
    {"CDK_VALIDATION"}
)  # enables or disables the CDK's template validation; contains no account


def new_key() -> str:
    """Return a random access key ID. A local AWS accepts requests only with its own."""
    return f"LOCAL{secrets.token_hex(16).upper()}"


def require_loopback(endpoint: str) -> str:
    """Return `endpoint` if it is a loopback address.

    Args:
        endpoint: An address such as ``http://localhost:4566``.

    Raises:
        LocalAwsError: If it is not an HTTP URL of a loopback host (UC8001).
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not _is_loopback(parts.hostname or "") or parts.username:
        raise LocalAwsError(
            "UC8001",
            f"endpoint of the local AWS: got {quote(endpoint)}",
            allowed="http://localhost:PORT or an address of 127.0.0.0/8",
            remedy="Unset AWS_ENDPOINT_URL, or start the local AWS and use the address it prints",
        )
    return endpoint


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def local_variables(*, endpoint: str, key: str, region: str) -> dict[str, str]:
    """Return the variables that make AWS SDKs and the CDK CLI use the local AWS, as a user exports them.

    Args:
        endpoint: Address of the local AWS; must be a loopback one.
        key: Access key ID of the local AWS.
        region: Region to set as default.

    Raises:
        LocalAwsError: If `endpoint` is not a loopback address (UC8001).
    """
    return {
        "AWS_ENDPOINT_URL": require_loopback(endpoint),
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DEFAULT_ACCOUNT": ACCOUNT,
        "CDK_DEFAULT_REGION": region,
        "CDK_DISABLE_CLI_TELEMETRY": "true",
    }


def child_environment(
    *, endpoint: str, key: str, region: str, base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Build an environment in which AWS SDKs and the CDK CLI reach only the local AWS.

    Variables that could name a real account (``AWS_*``, ``CDK_*`` except ``CDK_VALIDATION``) or route through a
    proxy are dropped, configuration files point to the null device and instance metadata is disabled.

    Args:
        endpoint: Address of the local AWS; must be a loopback one.
        key: Access key ID of the local AWS.
        region: Region to set as default.
        base: Environment to start from. Default: the environment of this process.

    Raises:
        LocalAwsError: If `endpoint` is not a loopback address (UC8001).
    """
    source = os.environ if base is None else base
    return {**without_aws(source), **local_variables(endpoint=endpoint, key=key, region=region)}


def without_aws(source: Mapping[str, str]) -> dict[str, str]:
    """Drop variables that could name a real account or route local requests through a proxy."""
    return {
        name: value
        for name, value in source.items()
        if name in _KEPT or not (name.upper().startswith(_DROPPED_PREFIXES) or name.upper() in _PROXIES)
    }


# A proxy would carry requests for http://localhost off this machine.
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})

_PROFILES = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE")


def remove_profiles() -> dict[str, str]:
    """Remove the user's AWS profile from this process's environment: moto asks boto3 for it and fails if it is unknown.

    Returns:
        Removed variables, to be restored by ``os.environ.update``.
    """
    return {name: os.environ.pop(name) for name in _PROFILES if name in os.environ}
