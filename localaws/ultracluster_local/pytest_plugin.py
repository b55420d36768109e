"""The fixtures `local_aws` and `local_aws_server` for tests of your own: an empty local AWS for each test, or one for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ultracluster_local.server.local_aws import LocalAws

__all__ = ["local_aws", "local_aws_server"]


@pytest.fixture(scope="session")
def local_aws_server() -> Iterator[LocalAws]:
    """Give the local AWS of the whole session, as it is: for fixtures of modules, which reset it themselves."""
    from ultracluster_local.server.local_aws import LocalAws  # noqa: PLC0415 - moto costs a second; most runs need none

    with LocalAws() as local:
        yield local


@pytest.fixture
def local_aws(local_aws_server: LocalAws) -> LocalAws:
    """Give an empty, seeded local AWS; its server is shared by the session, its state is not."""
    local_aws_server.reset()
    return local_aws_server
