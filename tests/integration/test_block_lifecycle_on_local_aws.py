"""The deployed function, woken in the local AWS: a whole life of a block, as its reservation there moves through time.

The local AWS starts no instances and runs no jobs, so telling and ending jobs is shown in tests/unit/runtime only.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.conftest import ROOT, synthesize_rollout

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly
from ultracluster_local.seed import seed_capacity_block

pytestmark = [pytest.mark.synth, pytest.mark.deploy]

REGION = "us-east-2"
RESERVATION = "cr-0123456789abcdef0"
HOUR = timedelta(hours=1)


def seed(start: timedelta, end: timedelta) -> None:
    now = datetime.now(UTC)
    seed_capacity_block(
        reservation_id=RESERVATION,
        instance_type="trn2.48xlarge",
        count=4,
        zone_id="use2-az3",
        start=now + start,
        end=now + end,
        region=REGION,
    )


def wake(local: LocalAws) -> None:
    functions = local.client("lambda", REGION)
    (function,) = [
        each["FunctionName"]
        for each in functions.list_functions()["Functions"]
        if each["Handler"] == "ultracluster_runtime.lifecycle.handler.handler"
    ]
    answer = functions.invoke(FunctionName=function, Payload=json.dumps({"detail-type": "Scheduled Event"}))
    assert "FunctionError" not in answer, answer["Payload"].read()


def states(local: LocalAws) -> tuple[str, str]:
    batch = local.client("batch", REGION)
    (environment,) = batch.describe_compute_environments()["computeEnvironments"]
    (queue,) = batch.describe_job_queues()["jobQueues"]
    return environment["state"], queue["state"]


def remembered(local: LocalAws) -> dict[str, Any]:
    ssm = local.client("ssm", REGION)
    (name,) = [
        each["Name"]
        for each in ssm.describe_parameters()["Parameters"]
        if "life cycle" in each.get("Description", "")
    ]
    stored: dict[str, Any] = json.loads(ssm.get_parameter(Name=name)["Parameter"]["Value"])
    return stored


def test_the_deployed_function_opens_and_closes_the_cluster_with_its_block(
    local_aws: LocalAws, tmp_path: Path
) -> None:
    assert synthesize_rollout(ROOT / "stacks/rollouts/quickstart.yaml", tmp_path / "cdk.out").returncode == 0
    seed(start=HOUR, end=25 * HOUR)
    deployed = deploy_assembly(local_aws, tmp_path / "cdk.out")
    assert {each.status for each in deployed} == {"CREATE_COMPLETE"}
    assert states(local_aws) == ("ENABLED", "ENABLED")

    wake(local_aws)  # before the start jobs wait
    assert states(local_aws) == ("DISABLED", "ENABLED")

    seed(start=-HOUR, end=25 * HOUR)
    wake(local_aws)
    assert states(local_aws) == ("ENABLED", "ENABLED")
    assert remembered(local_aws)["notices"] == []

    seed(start=-23 * HOUR, end=HOUR)
    wake(local_aws)
    assert states(local_aws) == ("ENABLED", "ENABLED")
    assert remembered(local_aws)["notices"] == ["T-2h"]

    seed(start=-23.5 * HOUR, end=HOUR / 2)  # its drain
    wake(local_aws)
    assert states(local_aws) == ("DISABLED", "DISABLED")

    seed(start=-23 * HOUR, end=25 * HOUR)  # extended after all
    wake(local_aws)
    assert states(local_aws) == ("ENABLED", "ENABLED")

    seed(start=-25 * HOUR, end=-HOUR)
    wake(local_aws)
    assert states(local_aws) == ("DISABLED", "DISABLED")
    assert remembered(local_aws)["notices"] == ["report"]
    assert local_aws.capacity_market(REGION).reservations.keys() == {RESERVATION}  # nothing was bought
