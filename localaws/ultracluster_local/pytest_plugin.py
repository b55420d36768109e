"""The pytest fixtures `local_aws`, empty for each test, and `local_aws_server`, shared by the session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import ultracluster_local

if TYPE_CHECKING:
    from ultracluster_local.server.local_aws import LocalAws

__all__ = ["local_aws", "local_aws_server"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a project hold callers to their policies."""
    parser.addini("local_aws_policies", "evaluate the policies of functions, roles and users", type="bool")


@pytest.fixture(scope="session")
def local_aws_server(pytestconfig: pytest.Config) -> Iterator[LocalAws]:
    """Provide the local AWS of the session without a reset, for module-scoped fixtures that reset it themselves."""
    with ultracluster_local.LocalAws(evaluate_policies=pytestconfig.getini("local_aws_policies")) as local:
        yield local


@pytest.fixture
def local_aws(local_aws_server: LocalAws) -> LocalAws:
    """Provide an empty, bootstrapped local AWS; the session shares its server, not its state."""
    local_aws_server.reset()
    return local_aws_server
