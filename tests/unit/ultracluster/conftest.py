"""A fresh stack for each test."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import new_stack


@pytest.fixture
def stack() -> cdk.Stack:
    return new_stack()


@pytest.fixture(scope="module")
def app() -> cdk.App:
    return cdk.App()
