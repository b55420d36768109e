"""The calls of a rehearsal's checks: those of preflight and a few more, none of which starts a node or buys."""

from functools import partial
from pathlib import Path

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from tests.unit.runtime.preflight.preflight_cases import NOW, Client

from ultracluster_runtime.preflight.reader import ALLOWED_CALLS
from ultracluster_runtime.rehearsal import checks
from ultracluster_runtime.rehearsal.reader import PROBE_TYPE, REHEARSAL_CALLS, RehearsalReader


def reader_of(client: Client) -> RehearsalReader:
    return RehearsalReader(lambda *_: client, now=NOW, seconds=10)


def test_every_call_exists() -> None:
    loader = Loader()
    for call in REHEARSAL_CALLS:
        service, _, operation = call.partition(":")
        assert operation in ServiceModel(loader.load_service_model(service, "service-2")).operation_names, (
            call
        )


def test_each_listed_call_is_made_by_a_check() -> None:
    made = Path(checks.__file__).read_text()

    assert [call for call in REHEARSAL_CALLS - ALLOWED_CALLS if f'"{call}"' not in made] == []


@pytest.mark.parametrize("dry", [{}, {"DryRun": False}])
def test_instances_are_never_started(dry: dict[str, bool]) -> None:
    client = Client({"run_instances": {}})

    with pytest.raises(KeyError, match="dry run only"):
        reader_of(client).call("ec2:RunInstances", "us-east-2", MinCount=1, MaxCount=1, **dry)
    assert client.asked == []


def test_no_environment_of_a_type_that_exists_is_created() -> None:
    client = Client({"create_compute_environment": {}})
    reader = reader_of(client)

    with pytest.raises(KeyError, match=PROBE_TYPE):
        reader.call(
            "batch:CreateComputeEnvironment", "us-east-2", computeResources={"instanceTypes": ["c5.large"]}
        )
    assert client.asked == []


@pytest.mark.parametrize("change", [{}, {"state": "ENABLED"}, {"state": "DISABLED", "serviceRole": "r"}])
def test_environments_are_only_disabled(change: dict[str, str]) -> None:
    client = Client({"update_compute_environment": {}})
    update = partial(
        reader_of(client).call, "batch:UpdateComputeEnvironment", "us-east-2", computeEnvironment="ce"
    )

    with pytest.raises(KeyError, match="only disables"):
        update(**change)
    assert client.asked == []
    update(state="DISABLED")


@pytest.mark.parametrize("call", ["ec2:PurchaseCapacityBlock", "ec2:CreateCapacityReservation"])
def test_purchases_and_changes_are_no_calls_of_a_rehearsal(call: str) -> None:
    with pytest.raises(KeyError, match=call):
        reader_of(Client({})).call(call, "us-east-2")
