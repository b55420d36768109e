"""The deployed cluster in the local AWS: a whole life of its block, driven by nothing but the clock and the deployed rules.

The local AWS runs no jobs, so telling and ending jobs is shown in tests/unit/runtime only.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.conftest import ROOT, synthesize_rollout

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly
from ultracluster_local.seeding.seed import seed_capacity_block

pytestmark = pytest.mark.slow

REGION = "us-east-2"
RESERVATION = "cr-0123456789abcdef0"
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def states(local: LocalAws) -> tuple[str, str]:
    batch = local.client("batch", REGION)
    (environment,) = batch.describe_compute_environments()["computeEnvironments"]
    (queue,) = batch.describe_job_queues()["jobQueues"]
    return environment["state"], queue["state"]


def remembered(local: LocalAws) -> dict[str, Any]:
    dynamodb = local.client("dynamodb", REGION)
    (item,) = [
        item
        for table in dynamodb.list_tables()["TableNames"]
        for item in dynamodb.scan(TableName=table)["Items"]
        if item["id"] == {"S": RESERVATION}
    ]
    assert "owner" not in item  # the lease was given back
    stored: dict[str, Any] = json.loads(item["state"]["S"])
    return stored


def woken_by(local: LocalAws) -> set[str]:
    return {each.event["detail-type"] for each in local.deliveries(REGION)}


def extend(local: LocalAws) -> None:
    ec2 = local.client("ec2", REGION)
    (offering,) = ec2.describe_capacity_block_extension_offerings(
        CapacityReservationId=RESERVATION, CapacityBlockExtensionDurationHours=24
    )["CapacityBlockExtensionOfferings"]
    ec2.purchase_capacity_block_extension(
        CapacityReservationId=RESERVATION,
        CapacityBlockExtensionOfferingId=offering["CapacityBlockExtensionOfferingId"],
    )


def test_the_deployed_cluster_opens_and_closes_with_its_block_by_the_clock_alone(
    local_aws: LocalAws, tmp_path: Path
) -> None:
    assert synthesize_rollout(ROOT / "stacks/rollouts/quickstart.yaml", tmp_path / "cdk.out").returncode == 0
    start = (datetime.now(UTC) + timedelta(days=1)).replace(hour=11, minute=30, second=0, microsecond=0)
    end = start + 24 * HOUR
    seed_capacity_block(
        reservation_id=RESERVATION,
        instance_type="trn2.48xlarge",
        count=4,
        zone_id="use2-az3",
        start=start,
        end=end,
        region=REGION,
    )
    deployed = deploy_assembly(local_aws, tmp_path / "cdk.out")
    assert {each.status for each in deployed} == {"CREATE_COMPLETE"}
    assert states(local_aws) == ("ENABLED", "ENABLED")
    # A function takes a second here: of the wake-ups in one move the last is enough.
    local_aws.event_settings.most_firings = 1

    local_aws.clock.set(start - MINUTE)  # before the start jobs wait
    assert states(local_aws) == ("DISABLED", "ENABLED")

    local_aws.clock.advance(MINUTE)
    assert states(local_aws) == ("ENABLED", "ENABLED")
    assert woken_by(local_aws) >= {"Scheduled Event", "Capacity Block Delivered"}
    already = set(remembered(local_aws)["notices"])

    local_aws.clock.set(end - 2 * HOUR)
    assert states(local_aws) == ("ENABLED", "ENABLED")
    assert "T-2h" in set(remembered(local_aws)["notices"]) - already

    local_aws.clock.set(end - HOUR)  # the last moment that an extension is sold at
    extend(local_aws)
    local_aws.clock.set(end - 40 * MINUTE)  # its drain, were it not extended
    assert states(local_aws) == ("ENABLED", "ENABLED")
    assert "Capacity Block Expiration Warning" not in woken_by(local_aws)

    end += 24 * HOUR
    local_aws.clock.set(end - 41 * MINUTE)
    assert states(local_aws) == ("ENABLED", "ENABLED")
    local_aws.clock.advance(MINUTE)
    assert states(local_aws) == ("DISABLED", "DISABLED")
    assert "Capacity Block Expiration Warning" in woken_by(local_aws)

    local_aws.clock.set(end + MINUTE)
    assert states(local_aws) == ("DISABLED", "DISABLED")
    assert "report" in remembered(local_aws)["notices"]
    assert {each.error for each in local_aws.deliveries(REGION)} == {""}
    assert local_aws.capacity_market(REGION).reservations.keys() == {RESERVATION}  # nothing was bought


@pytest.mark.parametrize("launched_by", ["auto-scaling", "batch"])
def test_a_sick_node_is_named_and_replaced_in_its_block_on_both_roads(
    local_aws: LocalAws, tmp_path: Path, launched_by: str
) -> None:
    rollout = tmp_path / "rollout.yaml"
    text = (ROOT / "stacks/rollouts/quickstart.yaml").read_text()
    image = local_aws.client("ec2", REGION).register_image(Name="nodes", RootDeviceName="/dev/xvda")[
        "ImageId"
    ]
    for old, new in {
        "          reservation_id:": f"          launched_by: {launched_by}\n          reservation_id:",
        "        capacity:\n": "        sick_nodes: replace\n        capacity:\n",
        "ami-0123456789abcdef0": image,
    }.items():
        assert old in text
        text = text.replace(old, new, 1)
    rollout.write_text(text)
    assert synthesize_rollout(rollout, tmp_path / "cdk.out").returncode == 0
    # CloudWatch Logs refuses events of more than two hours ahead, by the time of this machine.
    start = (datetime.now(UTC) + 20 * MINUTE).replace(second=0, microsecond=0)
    seed_capacity_block(
        reservation_id=RESERVATION,
        instance_type="trn2.48xlarge",
        count=4,
        zone_id="use2-az3",
        start=start,
        end=start + 24 * HOUR,
        region=REGION,
    )
    deployed = deploy_assembly(local_aws, tmp_path / "cdk.out")
    assert [each.reason for each in deployed] == [""] * 3
    local_aws.event_settings.most_firings = 1
    local_aws.clock.set(start)
    ec2, logs = local_aws.client("ec2", REGION), local_aws.client("logs", REGION)
    if launched_by == "batch":  # without a job nothing else launches a node there
        (template,) = ec2.describe_launch_templates()["LaunchTemplates"]
        named = {"LaunchTemplateId": template["LaunchTemplateId"]}
        (version,) = ec2.describe_launch_template_versions(**named)["LaunchTemplateVersions"]
        (queue,) = local_aws.client("batch", REGION).describe_compute_environments()["computeEnvironments"]
        (subnet,) = queue["computeResources"]["subnets"]
        interfaces = version["LaunchTemplateData"]["NetworkInterfaces"]
        ec2.run_instances(
            LaunchTemplate=named,
            NetworkInterfaces=[{**each, "SubnetId": subnet} for each in interfaces],
            MinCount=1,
            MaxCount=1,
        )

    def nodes() -> dict[str, str | None]:
        alive = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
        return {
            instance["InstanceId"]: instance.get("CapacityReservationId")
            for reservation in ec2.describe_instances(Filters=alive)["Reservations"]
            for instance in reservation["Instances"]
        }

    local_aws.clock.advance(15 * MINUTE)
    before = nodes()
    assert set(before.values()) == {RESERVATION}
    sick = min(before)
    (group,) = [each["logGroupName"] for each in logs.describe_log_groups()["logGroups"] if "ClusterMetricsLogs" in each["logGroupName"]]  # fmt: skip
    logs.create_log_stream(logGroupName=group, logStreamName=sick)
    for _ in range(6):
        local_aws.clock.advance(MINUTE)
        message = json.dumps({"InstanceId": sick, "NodeFaults": 1, "Faults": ["DMA_ERROR"]})
        event = {"timestamp": int(local_aws.clock.now().timestamp() * 1000), "message": message}
        answer = logs.put_log_events(logGroupName=group, logStreamName=sick, logEvents=[event])
        assert not answer.get("rejectedLogEventsInfo")
    local_aws.clock.advance(20 * MINUTE)

    stored = remembered(local_aws)
    assert list(stored["replaced"]) == [sick]
    assert {f"sick {sick}", f"replaced {sick}"} <= set(stored["notices"])
    after = nodes()
    assert sick not in after
    assert set(after.values()) <= {RESERVATION}
    assert len(after) == (len(before) if launched_by == "auto-scaling" else 0)
    assert {each.error for each in local_aws.deliveries(REGION)} == {""}
