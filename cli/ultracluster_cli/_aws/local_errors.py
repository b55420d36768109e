"""Convert errors of ultracluster-local to findings."""

from collections.abc import Iterator
from contextlib import contextmanager

from ultracluster_rules.findings import Finding, FindingsError


@contextmanager
def local_aws_findings() -> Iterator[None]:
    """Raise errors of the local AWS as findings with the same code and text.

    Raises:
        FindingsError: If ultracluster-local is not installed (UC8004) or raises an error (UC8001 to UC8007).
    """
    try:
        from ultracluster_local.errors import LocalAwsError  # noqa: PLC0415 - optional dependency
    except ModuleNotFoundError:
        problem = "Python module ultracluster_local is missing"
        remedy = "Install ultracluster[local]"
        raise FindingsError.of("UC8004", problem, remedy=remedy) from None
    try:
        yield
    except LocalAwsError as error:
        finding = Finding(code=error.code, problem=error.problem, allowed=error.allowed, remedy=error.remedy)
        raise FindingsError([finding]) from error
