"""The rollout of docs/concepts/capacity-sources.md on the local AWS: deployed, changed in order and number, and destroyed."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.conftest import ROOT, synthesize_rollout

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly
from ultracluster_local.seeding.seed import seed_capacity_block
from ultracluster_runtime.jobs.queues import find_definition, find_queue

pytestmark = pytest.mark.deep

REGION = "us-east-2"
BLOCK = "cr-0123456789abcdef0"
MINUTE = timedelta(minutes=1)
SPILL = """\
          - name: spill
            market_type: on-demand
            max_nodes: 1
"""
SPOT = """\
          - name: spot
            market_type: spot
            max_nodes: 8
"""
RESERVED = """\
          - name: reserved
            market_type: on-demand
            reservation_id: cr-0fedcba9876543210
"""


def documented() -> str:
    (text,) = re.findall(
        r"```yaml\n(version: 1\n.*?)```", (ROOT / "docs/concepts/capacity-sources.md").read_text(), re.DOTALL
    )
    return str(text)


def deploy(local: LocalAws, folder: Path, text: str) -> set[str]:
    folder.mkdir()
    (folder / "rollout.yaml").write_text(text)
    done = synthesize_rollout(folder / "rollout.yaml", folder / "cdk.out")
    assert done.returncode == 0, done.stderr
    return {each.status for each in deploy_assembly(local, folder / "cdk.out")}


def environments(local: LocalAws) -> dict[str, dict[str, Any]]:
    return {
        each["computeEnvironmentArn"]: each
        for each in local.client("batch", REGION).describe_compute_environments()["computeEnvironments"]
    }


def queues(local: LocalAws) -> dict[str, dict[str, Any]]:
    """The queues by name; the cluster's own has none."""
    return {
        each.get("tags", {}).get("ultracluster:queue-name", ""): each
        for each in local.client("batch", REGION).describe_job_queues()["jobQueues"]
    }


def kinds(local: LocalAws, queue: str) -> list[str]:
    """What the environments of a queue launch into, in their order: a reservation, on-demand or Spot."""
    ec2, known = local.client("ec2", REGION), environments(local)
    found = []
    for entry in sorted(queues(local)[queue]["computeEnvironmentOrder"], key=lambda each: int(each["order"])):
        resources = known[entry["computeEnvironment"]]["computeResources"]
        (version,) = ec2.describe_launch_template_versions(
            LaunchTemplateId=resources["launchTemplate"]["launchTemplateId"],
            Versions=[resources["launchTemplate"]["version"]],
        )["LaunchTemplateVersions"]
        target = version["LaunchTemplateData"].get("CapacityReservationSpecification", {})
        found.append(
            target.get("CapacityReservationTarget", {}).get("CapacityReservationId", resources["type"])
        )
    return found


def test_sources_are_tried_in_order_changed_without_replacement_and_all_removed(
    local_aws: LocalAws, tmp_path: Path
) -> None:
    start = (datetime.now(UTC) + timedelta(days=1)).replace(hour=11, minute=30, second=0, microsecond=0)
    end = start + timedelta(days=1)
    seed_capacity_block(
        reservation_id=BLOCK,
        instance_type="trn1.32xlarge",
        count=4,
        zone_id="use2-az3",
        start=start,
        end=end,
        region=REGION,
    )
    local_aws.event_settings.most_firings = 1
    assert deploy(local_aws, tmp_path / "first", documented()) == {"CREATE_COMPLETE"}
    assert kinds(local_aws, "") == [BLOCK, "cr-0fedcba9876543210", "EC2"]
    assert kinds(local_aws, "urgent") == kinds(local_aws, "")[:2]
    assert kinds(local_aws, "small") == ["SPOT", "EC2"]
    assert {name: each["priority"] for name, each in queues(local_aws).items()} == {
        "": 1,
        "urgent": 10,
        "small": 1,
    }
    assert len(environments(local_aws)) == 4

    # `ultracluster jobs` finds each queue by its name in the rollout, and the queue that a job is meant for.
    def client(service: str) -> Any:
        return local_aws.client(service, REGION)

    shown = queues(local_aws)
    for name, queue in shown.items():
        found = find_queue("research", region=REGION, client=client, name=name or None)
        assert found.arn == queue["jobQueueArn"]
    evaluate = find_definition("evaluate", queue=found, client=client)
    assert evaluate["tags"]["ultracluster:queue"] == shown["small"]["jobQueueArn"]

    # The block's environment alone is closed and opened, and its queue stays open for the other sources.
    block, *others = (each["computeEnvironment"] for each in queues(local_aws)[""]["computeEnvironmentOrder"])
    for at, state in ((start - MINUTE, "DISABLED"), (start, "ENABLED"), (end - 40 * MINUTE, "DISABLED")):
        local_aws.clock.set(at)
        shown = environments(local_aws)
        assert shown[block]["state"] == state
        assert {shown[each]["state"] for each in others} == {"ENABLED"}
        assert {each["state"] for each in queues(local_aws).values()} == {"ENABLED"}
    assert {each.error for each in local_aws.deliveries(REGION)} == {""}

    # Another order replaces nothing, and a source that goes takes no other with it.
    changed = documented().replace(RESERVED + SPILL + SPOT, SPILL + RESERVED)
    changed = changed.replace("reserved, spill]", "spill, reserved]").replace("[spot, spill]", "[spill]")
    assert deploy(local_aws, tmp_path / "changed", changed) <= {"UPDATE_COMPLETE", "CREATE_COMPLETE"}
    assert kinds(local_aws, "") == [BLOCK, "EC2", "cr-0fedcba9876543210"]
    assert kinds(local_aws, "small") == ["EC2"]
    assert set(environments(local_aws)) == {block, *others}

    assert {each.status for each in destroy_assembly(local_aws, tmp_path / "changed/cdk.out")} == {
        "DELETE_COMPLETE"
    }
    assert environments(local_aws) == {}
    assert queues(local_aws) == {}
    assert local_aws.client("ec2", REGION).describe_launch_templates()["LaunchTemplates"] == []
    assert local_aws.capacity_market(REGION).reservations.keys() == {BLOCK}  # nothing was bought
