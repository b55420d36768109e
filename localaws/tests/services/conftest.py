"""Image Builder of the local AWS."""

from typing import Any

import pytest

from ultracluster_local import LocalAws


@pytest.fixture
def builder(local_aws: LocalAws) -> Any:
    return local_aws.client("imagebuilder", "us-east-2")
