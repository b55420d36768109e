"""The environment in which a local AWS is used, and the guard that keeps everything on this machine."""

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = [
    "ACCESS_KEY",
    "ACCOUNT",
    "SECRET_KEY",
    "child_environment",
    "require_loopback",
    "set_profiles_aside",
]

ACCOUNT = "123456789012"
"""The fake account that everything local lives in."""

ACCESS_KEY = "local-aws-access-key"
SECRET_KEY = "local-aws-secret-key"  # noqa: S105 - fake on purpose; no service outside this machine takes it

_DROPPED_PREFIXES = ("AWS_", "CDK_")
_KEPT = frozenset({"CDK_VALIDATION"})  # says whether the CDK checks templates, and names no account


def require_loopback(endpoint: str) -> str:
    """Return `endpoint` if it is on this machine.

    Args:
        endpoint: An address such as ``http://localhost:4566``.

    Raises:
        FindingsError: If it is not an HTTP address, or its host is not a loopback one (UC8001).
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not _is_loopback(parts.hostname or "") or parts.username:
        raise FindingsError(
            [
                Finding(
                    code="UC8001",
                    problem=f"endpoint of the local AWS: got {quote(endpoint)}",
                    allowed="http://localhost:PORT or an address of 127.0.0.0/8",
                    remedy="Unset AWS_ENDPOINT_URL, or start the local AWS and use the address it prints",
                )
            ]
        )
    return endpoint


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def local_variables(*, endpoint: str, region: str) -> dict[str, str]:
    """Return the variables that make AWS SDKs and the CDK CLI use the local AWS; what a person exports.

    Args:
        endpoint: Address of the local AWS; must be a loopback one.
        region: Region to set as default.

    Raises:
        FindingsError: If `endpoint` is not a loopback address (UC8001).
    """
    return {
        "AWS_ENDPOINT_URL": require_loopback(endpoint),
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
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


def child_environment(*, endpoint: str, region: str, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Build an environment in which AWS SDKs and the CDK CLI can reach the local AWS and nothing else.

    Every variable that could name a real account (``AWS_*``, ``CDK_*`` but ``CDK_VALIDATION``) or lead through a
    proxy is dropped, configuration files are pointed at nothing and the instance metadata service is switched off.

    Args:
        endpoint: Address of the local AWS; must be a loopback one.
        region: Region to set as default.
        base: Environment to start from. Default: the environment of this process.

    Raises:
        FindingsError: If `endpoint` is not a loopback address (UC8001).
    """
    source = os.environ if base is None else base
    return {**without_aws(source), **local_variables(endpoint=endpoint, region=region)}


def without_aws(source: Mapping[str, str]) -> dict[str, str]:
    """Drop every variable that could name a real account, or carry a request for this machine away from it."""
    return {
        name: value
        for name, value in source.items()
        if name in _KEPT or not (name.upper().startswith(_DROPPED_PREFIXES) or name.upper() in _PROXIES)
    }


# A proxy would carry a request for http://localhost away from this machine.
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})

_PROFILES = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE")


def set_profiles_aside() -> dict[str, str]:
    """Take the user's AWS profile out of this process: moto itself asks boto3 for it, and fails if it is unknown.

    Returns:
        What to give back by ``os.environ.update`` later.
    """
    return {name: os.environ.pop(name) for name in _PROFILES if name in os.environ}
