"""A fresh stack for each test, without the CDK's own template check."""

import os
from collections.abc import Iterator

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import new_stack


@pytest.fixture(autouse=True, scope="session")
def _without_builtin_validation() -> Iterator[None]:
    """Skip the CDK's own template check here (1.2 s a synth); tests/unit/stacks runs it on the real app."""
    before = os.environ.get("CDK_VALIDATION")
    os.environ["CDK_VALIDATION"] = "false"
    yield
    if before is None:
        del os.environ["CDK_VALIDATION"]
    else:
        os.environ["CDK_VALIDATION"] = before


@pytest.fixture
def stack() -> cdk.Stack:
    return new_stack()


@pytest.fixture(scope="module")
def app() -> cdk.App:
    return cdk.App()
