"""Preflight reads only, and asks each question once."""

import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from tests.unit.runtime.preflight.preflight_cases import (
    NOW,
    ROLLOUT,
    Client,
    reads_of,
    statuses,
)

from ultracluster_runtime.preflight import reader as preflight_reader
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.reader import ALLOWED_CALLS, AwsReader, DeadlinePassedError
from ultracluster_runtime.preflight.registry import CHECKS
from ultracluster_runtime.preflight.run import run_checks
from ultracluster_runtime.rehearsal import checks


def test_every_call_exists_and_is_read_only() -> None:
    loader = Loader()
    for call in ALLOWED_CALLS:
        service, _, operation = call.partition(":")
        model = ServiceModel(loader.load_service_model(service, "service-2"))
        assert operation in model.operation_names, call
        assert operation.startswith(("Describe", "Get", "BatchGet", "List", "Head", "Simulate")), call


def test_each_listed_call_is_made_by_a_check() -> None:
    modules = [*Path(preflight_reader.__file__).parent.glob("*.py"), Path(checks.__file__)]
    made = "".join(path.read_text() for path in modules if path.name != "reader.py")
    assert [call for call in ALLOWED_CALLS if f'"{call}"' not in made] == []


def test_unlisted_calls_are_never_sent() -> None:
    client = Client({"terminate_instances": {}})
    with pytest.raises(KeyError, match="ec2:TerminateInstances"):
        reads_of(client).call("ec2:TerminateInstances", "us-east-2")
    assert client.asked == []


def test_many_threads_ask_the_same_question_once() -> None:
    client = Client({"get_caller_identity": lambda: time.sleep(0.02) or {"Account": "1"}})
    reader = reads_of(client)
    threads = [
        threading.Thread(target=reader.call, args=("sts:GetCallerIdentity", "us-east-1")) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.asked == ["get_caller_identity"]


def test_no_calls_are_made_after_the_deadline() -> None:
    client = Client({"get_caller_identity": {}})
    results = run_checks(ROLLOUT, reads_of(client, seconds=0.0), checks=CHECKS[:1])
    assert client.asked == []
    assert statuses(results) == [Status.FAIL]


class Pages:
    """A client whose operation has three pages, each of which takes four seconds."""

    seconds = 0

    def get_paginator(self, operation: str) -> "Pages":
        assert operation == "describe_network_interfaces"
        return self

    def paginate(self, **_: object) -> Iterator[dict[str, list[int]]]:
        for page in range(3):
            self.seconds += 4
            yield {"NetworkInterfaces": [page]}


@pytest.mark.parametrize(("seconds", "asked"), [(13, 12), (7, 8)])
def test_all_pages_are_read_until_the_deadline(seconds: float, asked: int) -> None:
    pages = Pages()
    reader = AwsReader(lambda *_: pages, now=NOW, seconds=seconds, clock=lambda: pages.seconds)
    call = partial(reader.list_all, "ec2:DescribeNetworkInterfaces", "us-east-2", "NetworkInterfaces")
    if seconds > asked:
        assert call() == [0, 1, 2]
    else:
        with pytest.raises(DeadlinePassedError):
            call()
    assert pages.seconds == asked
