"""The quick start with one line changed: an Auto Scaling group starts the nodes, for a whole life of its block and the next."""

import json
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.cfn_lint import lint
from tests.integration.sick_nodes import begin_soon, nodes, register_image, remembered, report_faults
from tests.unit.stacks.conftest import QUICKSTART

from ultracluster_cli.operate.destroy import end_nodes
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly, read_assembly
from ultracluster_local.seeding.seed import seed_capacity_block
from ultracluster_local.services.batch.jobs import set_job_status
from ultracluster_local.services.batch.state import batch_of
from ultracluster_runtime.jobs.describe import describe_job, describe_pending_job
from ultracluster_runtime.jobs.diagnose import diagnose
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.rehearsal import rehearsed
from ultracluster_stacks.synthesis.in_process import synthesize

pytestmark = pytest.mark.slow

REGION = "us-east-2"
FIRST, SECOND = "cr-0123456789abcdef0", "cr-0fedcba9876543210"
LINE = "          market_type: capacity-block\n"
MINUTE = timedelta(minutes=1)


class Account:
    """The quick start in an account of its own."""

    def __init__(self, local: LocalAws, folder: Path) -> None:
        self.local = local
        self.folder = folder
        self.image = register_image(local)
        local.event_settings.most_firings = 1  # of the wake-ups in one move the last is enough

    def deploy(self, reservation: str) -> None:
        text = QUICKSTART.read_text()
        assert text.count(LINE) == 1
        for old, new in (
            (LINE, f"{LINE}          launched_by: auto-scaling\n"),
            ("        capacity:\n", "        sick_nodes: replace\n        capacity:\n"),
            ("ami-0123456789abcdef0", self.image),
            (FIRST, reservation),
        ):
            assert old in text, old
            text = text.replace(old, new)
        path = self.folder / "rollout.yaml"
        path.write_text(text)
        (cluster,) = load_rollout(path).config.clusters()
        synthesize([cluster], self.assembly)
        results = deploy_assembly(self.local, self.assembly)
        assert {(each.status, each.reason) for each in results} <= {
            ("CREATE_COMPLETE", ""),
            ("UPDATE_COMPLETE", ""),
        }

    @property
    def assembly(self) -> Path:
        return self.folder / "cdk.out"

    def buy(self, reservation: str, start: datetime) -> datetime:
        seed_capacity_block(
            reservation_id=reservation,
            instance_type="trn2.48xlarge",
            count=4,
            zone_id="use2-az3",
            start=start,
            end=start + timedelta(days=1),
            region=REGION,
        )
        return start + timedelta(days=1)

    @property
    def group(self) -> dict[str, Any]:
        (group,) = self.local.client("autoscaling", REGION).describe_auto_scaling_groups()[
            "AutoScalingGroups"
        ]
        return dict(group)

    @property
    def cluster(self) -> str:
        batch = self.local.client("batch", REGION)
        (environment,) = batch.describe_compute_environments()["computeEnvironments"]
        return str(environment["ecsClusterArn"])

    @property
    def joined(self) -> dict[str, str]:
        """Container instances by the ID of their instance."""
        ecs = self.local.client("ecs", REGION)
        arns = ecs.list_container_instances(cluster=self.cluster)["containerInstanceArns"]
        if not arns:
            return {}
        shown = ecs.describe_container_instances(cluster=self.cluster, containerInstances=arns)
        return {one["ec2InstanceId"]: one["containerInstanceArn"] for one in shown["containerInstances"]}

    def place(self, array: str) -> None:
        """Run each child on a node, as AWS Batch would."""
        for index, host in enumerate(self.joined.values()):
            batch_of(REGION).jobs[f"{array}:{index}"]["container"]["containerInstanceArn"] = host
            set_job_status(region=REGION, job_id=f"{array}:{index}", status="RUNNING")

    def submit(self) -> str:
        batch = self.local.client("batch", REGION)
        (queue,) = batch.describe_job_queues()["jobQueues"]
        (definition,) = batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"]
        size = int(definition["tags"]["ultracluster:array-size"])
        submitted = batch.submit_job(
            jobName="pretrain",
            jobQueue=queue["jobQueueArn"],
            jobDefinition=definition["jobDefinitionArn"],
            arrayProperties={"size": size},
            tags={"ultracluster:resume": "2"},
        )
        return str(submitted["jobId"])

    def jobs(self, status: str) -> list[dict[str, Any]]:
        batch = self.local.client("batch", REGION)
        (queue,) = batch.describe_job_queues()["jobQueues"]
        found = batch.list_jobs(jobQueue=queue["jobQueueArn"], jobStatus=status)["jobSummaryList"]
        return [dict(job) for job in found]

    def why_waiting(self, array: str) -> list[str]:
        client = partial(self.local.client, region=REGION)
        job = describe_job(array, client=client)
        pending = describe_pending_job(job, now=self.local.clock.now(), client=client)
        return [one.reason for one in diagnose(pending)]


def test_block_is_filled_a_sick_node_replaced_the_array_drained_and_continued_in_the_next_block(
    local_aws: LocalAws, tmp_path: Path
) -> None:
    account, local, clock = Account(local_aws, tmp_path), local_aws, local_aws.clock
    start = begin_soon()
    end = account.buy(FIRST, start)
    account.deploy(FIRST)
    for stack in read_assembly(account.assembly):
        assert [str(each) for each in lint(stack.template.read_text(), regions=[REGION])] == []
    # The group and the block explain why an array waits.
    array = account.submit()
    assert account.why_waiting(array) == ["block-not-started"]
    clock.set(start - MINUTE)
    assert (account.group["DesiredCapacity"], account.joined) == (0, {})

    clock.set(start)
    assert account.group["DesiredCapacity"] == 4
    assert len(account.joined) == 4
    assert_a_sick_node_is_named_and_replaced(account)
    first_nodes = set(account.joined)
    assert account.why_waiting(array) == []
    account.place(array)
    assert account.why_waiting(array) == ["running"]

    clock.set(end - 59 * MINUTE)  # jobs are told
    clock.set(end - 41 * MINUTE)
    assert account.group["DesiredCapacity"] == 4
    ended_at = clock.now()
    for _ in range(10):
        clock.advance(MINUTE)
        if not account.group["Instances"]:
            break
    assert clock.now() - ended_at < 10 * MINUTE  # none is left for EC2 to end
    assert account.group["DesiredCapacity"] == 0
    children = local.client("batch", REGION).describe_jobs(
        jobs=[array, *(f"{array}:{index}" for index in range(4))]
    )
    assert {job["status"] for job in children["jobs"]} == {"FAILED"}
    assert all(FIRST in job["statusReason"] for job in children["jobs"])

    # The next block: another deployment, and the same run goes on in it.
    begins = end + timedelta(hours=2)
    account.buy(SECOND, begins)
    account.deploy(SECOND)
    clock.set(begins - MINUTE)
    assert account.group["DesiredCapacity"] == 0
    clock.set(begins)
    clock.advance(MINUTE)
    (resumed,) = account.jobs("PENDING")
    assert resumed["jobName"].startswith("pretrain-resume-")
    assert resumed["arrayProperties"]["size"] == 4
    assert len(account.joined) == 4
    assert not first_nodes & set(account.joined)
    assert {each.error for each in local.deliveries(REGION)} == {""}

    assert_destroyed_once_its_nodes_are_ended(account)


def assert_a_sick_node_is_named_and_replaced(account: Account) -> None:
    """The group starts another one as soon as EC2 has its place back."""
    local = account.local
    local.clock.advance(15 * MINUTE)
    sick = min(account.joined)
    report_faults(local, sick)
    local.clock.advance(30 * MINUTE)

    stored = remembered(local)
    assert list(stored["replaced"]) == [sick]
    assert {f"sick {sick}", f"replaced {sick}"} <= set(stored["notices"])
    assert len(account.joined) == len(nodes(local)) == 4
    assert set(nodes(local).values()) == {FIRST}
    assert sick not in account.joined


def assert_destroyed_once_its_nodes_are_ended(account: Account) -> None:
    protected, *_ = destroy_assembly(account.local, account.assembly)
    assert "all remaining instances are protected from scale-in" in protected.reason  # aws/aws-cdk#18179

    for stack in read_assembly(account.assembly):
        end_nodes(stack.name, partial(account.local.client, region=REGION))
    gone = destroy_assembly(account.local, account.assembly)

    assert [(each.status, each.reason) for each in gone] == [("DELETE_COMPLETE", "")] * len(gone)
    reservations = account.local.client("ec2", REGION).describe_instances()["Reservations"]
    assert {one["State"]["Name"] for each in reservations for one in each["Instances"]} <= {"terminated"}


def test_rehearsal_can_start_no_node(tmp_path: Path) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(QUICKSTART.read_text().replace(LINE, f"{LINE}          launched_by: auto-scaling\n"))
    (cluster,) = load_rollout(path).config.clusters()
    synthesize([rehearsed(cluster)], tmp_path / "cdk.out")
    resources = [
        resource
        for stack in read_assembly(tmp_path / "cdk.out")
        for resource in json.loads(stack.template.read_text())["Resources"].values()
    ]
    (group,) = (one for one in resources if one["Type"] == "AWS::AutoScaling::AutoScalingGroup")
    assert group["Properties"]["MaxSize"] == "0"
    (environment,) = (one for one in resources if one["Type"] == "AWS::Batch::ComputeEnvironment")
    assert "ComputeResources" not in environment["Properties"]
