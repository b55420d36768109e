"""Preflight reads only, and asks each question once."""

import threading
import time
from pathlib import Path

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from tests.unit.runtime.preflight.preflight_cases import (
    ROLLOUT,
    Client,
    reads_of,
    statuses,
)

from ultracluster_runtime.preflight import reader as preflight_reader
from ultracluster_runtime.preflight.check import Status
from ultracluster_runtime.preflight.reader import ALLOWED_CALLS
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
