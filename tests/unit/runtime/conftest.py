"""Stubbed clients of AWS."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.unit.runtime.stubbed_clients import StubbedAws


@pytest.fixture
def aws() -> Iterator[StubbedAws]:
    stubbed = StubbedAws()
    with ExitStack() as ends:
        yield stubbed
        for stub in stubbed.stubs.values():
            stub.assert_no_pending_responses()
            ends.callback(stub.deactivate)
