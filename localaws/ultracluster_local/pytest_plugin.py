"""The fixture `local_aws` for tests of your own: an empty local AWS for each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ultracluster_local.local_aws import LocalAws

__all__ = ["local_aws"]


@pytest.fixture(scope="session")
def _local_aws_server() -> Iterator[LocalAws]:
    from ultracluster_local.local_aws import LocalAws  # noqa: PLC0415 - moto costs a second; most runs need none

    with LocalAws() as local:
        yield local


@pytest.fixture
def local_aws(_local_aws_server: LocalAws) -> LocalAws:
    """Give an empty, seeded local AWS; its server is shared by the session, its state is not."""
    _local_aws_server.reset()
    return _local_aws_server
