"""The local AWS changes exactly what a plan shows: every edit of the plan's tests is deployed, stack by stack."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.fake_clients import FakeClients
from tests.unit.stacks.conftest import QUICKSTART
from tests.unit.stacks.plan.edits import edited, read

from ultracluster_cli._aws.deployed_template import read_deployed
from ultracluster_cli._aws.target import Target, single_target
from ultracluster_cli.plan import former_clusters
from ultracluster_cli.plan.former_clusters import FormerClusters, find_former_clusters
from ultracluster_cli.plan.stacks import assembled_stacks, deployed_stacks
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly
from ultracluster_local.seeding.seed import bootstrap_bucket
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import Action, Plan, StackTemplate, compare
from ultracluster_stacks.plan.resource_updates import MOVING_IDS
from ultracluster_stacks.synthesis.in_process import synthesize

pytestmark = pytest.mark.slow

Ids = dict[str, dict[str, str]]

# The local AWS refuses these, as CloudFormation does, for reasons that a template does not show.
NOT_DEPLOYABLE = {
    "a type that nobody knows": "no such type",
    "properties of a custom resource": "no function behind it",
    "a condition that comes": "the template has no such condition",
    "no checkpoint bucket": "what refers to it is still there",
    "no queue": "what refers to it is still there",
    "no role of the nodes": "what refers to it is still there",
    "another Lustre version": "FSx refuses metadata IOPS on Lustre 2.12 (API_CreateFileSystemLustreMetadataConfiguration)",
    "code of a function": "Lambda refuses code that is not in S3 (API_FunctionCode)",
}
EDITS = {"nothing": {"edits": []}} | {
    edit["why"]: edit for edits in read("earlier").values() for edit in edits if edit["of"] == "quickstart"
}
# One of each kind: nothing, in place, new ids of their own accord, replaced, refused, removed, retained and taken along.
TRIED_ALWAYS = {
    "nothing",
    "more nodes",
    "a revision of a job",
    "an AMI, while a block may run",
    "addresses of the subnet",
    "a name for the queue",
    "another type under the same id",
    "a larger file system",
    "a smaller file system",
    "no export of checkpoints",
    "a file system that a deletion takes along",
}


class Deployed:
    """The quick start on the local AWS."""

    def __init__(self, local: LocalAws, directory: Path) -> None:
        self.local = local
        self.directory = directory
        self.base = assembled_stacks(directory)
        self.cloudformation = local.client("cloudformation", self.base[0].region)

    def start(self) -> None:
        self.local.reset()
        results = deploy_assembly(self.local, self.directory)
        assert {result.status for result in results} == {"CREATE_COMPLETE"}

    def restore(self) -> None:
        """Go back to the quick start, in place where that works: a file system cannot shrink again."""
        if self.deploy(self.base) is not None:
            self.start()

    def ids(self) -> Ids:
        """Physical ids by stack and logical id."""
        return {
            stack.name: {
                one["LogicalResourceId"]: one["PhysicalResourceId"]
                for one in self.cloudformation.describe_stack_resources(StackName=stack.name)[
                    "StackResources"
                ]
            }
            for stack in self.base
        }

    def deploy(self, stacks: list[StackTemplate]) -> str | None:
        """Update stack by stack as `cdk deploy` does; return the one that failed."""
        s3 = self.local.client("s3", self.base[0].region)
        bucket = bootstrap_bucket(self.base[0].region)
        for stack in stacks:
            s3.put_object(Bucket=bucket, Key=stack.name, Body=json.dumps(stack.template).encode())
            try:
                self.cloudformation.update_stack(
                    StackName=stack.name,
                    TemplateURL=f"{self.local.endpoint}/{bucket}/{stack.name}",
                    Capabilities=["CAPABILITY_NAMED_IAM"],
                )
            except self.cloudformation.exceptions.ClientError as error:
                if "No updates" not in str(error):
                    raise
                continue
            (described,) = self.cloudformation.describe_stacks(StackName=stack.name)["Stacks"]
            if described["StackStatus"] != "UPDATE_COMPLETE":
                return stack.name
        return None


@pytest.fixture(scope="module")
def deployed(local_aws_server: LocalAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    directory = tmp_path_factory.mktemp("plan") / "cdk.out"
    synthesize(load_rollout(QUICKSTART).config.clusters(), directory)
    deployed = Deployed(local_aws_server, directory)
    deployed.start()
    yield deployed
    local_aws_server.reset()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in TRIED_ALWAYS else pytest.mark.deep)
        for name in EDITS
        if name not in NOT_DEPLOYABLE
    ],
)
def test_physical_ids_change_exactly_as_planned(deployed: Deployed, name: str) -> None:
    wanted = edited(deployed.base, EDITS[name])
    plan = compare(deployed.base, wanted)
    before = deployed.ids()

    failed = deployed.deploy(wanted)
    after = deployed.ids()

    try:
        assert failed == expected_failure(plan)
        through = [stack.name for stack in deployed.base]
        through = through[: through.index(failed)] if failed else through
        uncertain = {c.logical_id for s in plan.stacks for c in s.changes if c.action is Action.MAY_REPLACE}
        found = {name: what for name, what in moves(before, after, through).items() if name not in uncertain}
        assert found == expected_moves(plan, through)
    finally:
        deployed.restore()


def expected_failure(plan: Plan) -> str | None:
    refused = [
        stack.name
        for stack in plan.stacks
        if any(stop.allow is None for one in (stack, *stack.changes) for stop in one.stops)
    ]
    return refused[0] if refused else None


def moves(before: Ids, after: Ids, stacks: list[str]) -> dict[str, str]:
    """What happened to each physical id: new, other or gone."""
    found = {}
    for stack in stacks:
        for logical_id in {**before[stack], **after[stack]}:
            old, new = before[stack].get(logical_id), after[stack].get(logical_id)
            if old != new:
                found[logical_id] = "new" if old is None else "gone" if new is None else "other"
    return found


def expected_moves(plan: Plan, stacks: list[str]) -> dict[str, str]:
    said = {
        Action.ADD: "new",
        Action.REPLACE: "other",
        Action.REMOVE: "gone",
        Action.RETAIN: "gone",
    }
    changes = [change for stack in plan.stacks if stack.name in stacks for change in stack.changes]
    return {
        change.logical_id: said.get(change.action, "other")
        for change in changes
        if change.action in said or change.resource_type in MOVING_IDS
    }


def test_the_edits_that_are_tried_always_exist() -> None:
    assert EDITS.keys() - NOT_DEPLOYABLE.keys() >= TRIED_ALWAYS


def test_reads_back_what_is_deployed_and_finds_no_difference(deployed: Deployed) -> None:
    target = Target(name="local", local=True, environment={}, client=FakeClients(deployed.local.client))

    read = deployed_stacks(deployed.base, single_target(target))

    assert [one.state for one in compare(read, deployed.base).stacks] == ["same"] * 3


# Clusters that were renamed or moved, in a checkout that has deployed nothing


def quickstart_as(name: str, region: str = "us-east-2") -> Cluster:
    (cluster,) = load_rollout(QUICKSTART, deployable=False).config.clusters()
    return replace(cluster, name=name, region=region)


def stacks_of(cluster: Cluster, base: list[StackTemplate]) -> list[StackTemplate]:
    return [
        replace(stack, cluster=cluster.stage, name=name, region=cluster.region)
        for stack, name in zip(base, cluster.stacks, strict=True)
    ]


def former(
    deployed: Deployed, cluster: Cluster, after: list[StackTemplate], *also_defined: Cluster, **refusals: str
) -> FormerClusters:
    """What is found when a cluster is planned; services in `refusals` answer with an error in each Region."""
    refused: list[tuple[Any, Any]] = []

    def client(service: str, region: str | None) -> Any:
        made = deployed.local.client(service, region)
        if service in refusals:
            call = refusals[service]

            def refuse(*_: object, **__: object) -> None:
                raise ClientError({"Error": {"Code": "AccessDenied", "Message": f"no {call}"}}, call)

            made.meta.events.register("before-call", refuse)
            refused.append((made, refuse))
        return made

    target = Target(name="local", local=True, environment={}, client=FakeClients(client))
    before = [stack for stack in deployed.base if stack.key in {one.key for one in after}]
    try:
        return find_former_clusters(
            before,
            after,
            clusters=[cluster],
            defined=[cluster, *also_defined],
            targets=single_target(target),
        )
    finally:
        for made, refuse in refused:  # other tests have the same client
            made.meta.events.unregister("before-call", refuse)


@pytest.mark.parametrize("cluster", [quickstart_as("other"), quickstart_as("quickstart", "us-west-2")])
def test_the_stacks_of_a_cluster_that_was_renamed_or_moved_are_found_in_the_account(
    deployed: Deployed, cluster: Cluster
) -> None:
    after = stacks_of(cluster, deployed.base)
    found = former(deployed, cluster, after)
    assert {stack.key for stack in found.stacks} == {stack.key for stack in deployed.base}
    plan = compare(found.stacks, after)
    assert {stop.allow for stack in plan.stacks for stop in stack.stops} >= {
        f"leave:{stack.name}" for stack in deployed.base
    }
    assert (found.others, found.unanswered) == ((), "")


def test_a_cluster_of_the_file_is_no_former_one(deployed: Deployed) -> None:
    cluster = quickstart_as("other")
    after = stacks_of(cluster, deployed.base)
    assert former(deployed, cluster, after, quickstart_as("quickstart")) == FormerClusters()


def test_a_cluster_with_another_reservation_is_named_and_stops_nothing(deployed: Deployed) -> None:
    cluster = quickstart_as("other")
    texts = [json.dumps(stack.template) for stack in deployed.base]
    templates = [json.loads(text.replace("cr-0123456789abcdef0", "cr-0fedcba9876543210")) for text in texts]
    after = [
        replace(stack, template=template)
        for stack, template in zip(stacks_of(cluster, deployed.base), templates, strict=True)
    ]
    assert former(deployed, cluster, after) == FormerClusters(others=("quickstart in us-east-2",))


def test_the_stacks_of_a_neighbour_are_read_once_for_all_its_queues(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def count(name: str, client: Any) -> Any:
        read.append(name)
        return read_deployed(name, client)

    monkeypatch.setattr(former_clusters, "read_deployed", count)
    queues = former_clusters._clusters_of

    def with_further_queues(*arguments: Any, **options: Any) -> Any:
        found, unread = queues(*arguments, **options)
        return [*found, *found, *found], unread

    monkeypatch.setattr(former_clusters, "_clusters_of", with_further_queues)
    cluster = quickstart_as("other")
    found = former(deployed, cluster, stacks_of(cluster, deployed.base))
    assert {stack.key for stack in found.stacks} == {stack.key for stack in deployed.base}
    assert sorted(read) == sorted(stack.name for stack in deployed.base)


def test_what_may_not_be_asked_is_said_in_one_line(deployed: Deployed) -> None:
    cluster = quickstart_as("other")
    found = former(
        deployed,
        cluster,
        stacks_of(cluster, deployed.base),
        batch="DescribeJobQueues",
        ec2="DescribeRegions",
    )
    assert found.stacks == ()
    assert found.unanswered.startswith(
        "Whether a new cluster is one that was renamed or moved could not be asked: "
    )
    assert "other Regions than us-east-2" in found.unanswered
    assert "no DescribeJobQueues" in found.unanswered


def test_nothing_is_asked_of_clusters_that_are_deployed(deployed: Deployed) -> None:
    refused = dict.fromkeys(("batch", "ec2", "cloudformation"), "Anything")
    assert former(deployed, quickstart_as("quickstart"), deployed.base, **refused) == FormerClusters()
