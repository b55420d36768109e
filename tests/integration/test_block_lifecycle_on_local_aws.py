"""The deployed cluster in the local AWS: a whole life of its block, driven by nothing but the clock and the deployed rules.

The local AWS runs no jobs, so telling and ending jobs is shown in tests/unit/runtime only.
"""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.quickstart_block import REGION, RESERVATION, deploy, seed_block, synthesize
from tests.integration.sick_nodes import begin_soon, nodes, register_image, remembered, report_faults

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def states(local: LocalAws) -> tuple[str, str]:
    batch = local.client("batch", REGION)
    (environment,) = batch.describe_compute_environments()["computeEnvironments"]
    (queue,) = batch.describe_job_queues()["jobQueues"]
    return environment["state"], queue["state"]


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


def run_a_node(local: LocalAws) -> str:
    """Start a node as AWS Batch would for a job, which the local AWS does not; return its ID."""
    ec2 = local.client("ec2", REGION)
    (template,) = ec2.describe_launch_templates()["LaunchTemplates"]
    named = {"LaunchTemplateId": template["LaunchTemplateId"]}
    (version,) = ec2.describe_launch_template_versions(**named)["LaunchTemplateVersions"]
    (environment,) = local.client("batch", REGION).describe_compute_environments()["computeEnvironments"]
    (subnet,) = environment["computeResources"]["subnets"]
    interfaces = version["LaunchTemplateData"]["NetworkInterfaces"]
    (node,) = ec2.run_instances(
        LaunchTemplate=named,
        NetworkInterfaces=[{**each, "SubnetId": subnet} for each in interfaces],
        MinCount=1,
        MaxCount=1,
    )["Instances"]
    return str(node["InstanceId"])


def test_the_deployed_cluster_opens_ends_a_sick_node_and_closes_with_its_block_by_the_clock_alone(
    local_aws: LocalAws, tmp_path: Path
) -> None:
    """On nodes of AWS Batch; those of an Auto Scaling group: tests/unit/stacks/stacks/test_auto_scaling_road.py."""
    start, end = begin_soon(), begin_soon() + 24 * HOUR
    seed_block(start, end)
    replacing = {
        "        capacity:\n": "        sick_nodes: replace\n        capacity:\n",
        "ami-0123456789abcdef0": register_image(local_aws),
    }
    deploy(local_aws, synthesize(tmp_path, replacing))
    assert states(local_aws) == ("ENABLED", "ENABLED")
    # A function takes a second here: of the wake-ups in one move the last is enough.
    local_aws.event_settings.most_firings = 1

    local_aws.clock.set(start - MINUTE)  # before the start jobs wait
    assert states(local_aws) == ("DISABLED", "ENABLED")

    local_aws.clock.advance(MINUTE)
    assert states(local_aws) == ("ENABLED", "ENABLED")
    assert woken_by(local_aws) >= {"Scheduled Event", "Capacity Block Delivered"}

    sick = run_a_node(local_aws)
    local_aws.clock.advance(15 * MINUTE)
    assert nodes(local_aws) == {sick: RESERVATION}
    report_faults(local_aws, sick)
    local_aws.clock.advance(20 * MINUTE)
    assert nodes(local_aws) == {}
    stored = remembered(local_aws)
    assert list(stored["replaced"]) == [sick]
    assert {f"sick {sick}", f"replaced {sick}"} <= set(stored["notices"])
    already = set(stored["notices"])

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
