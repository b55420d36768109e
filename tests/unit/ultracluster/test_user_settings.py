"""What users set on roles, buckets, log groups, topics, functions and security groups of ours survives every later call."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct
from tests.unit.ultracluster.builders import IMAGE, block, new_stack, ultra_cluster

import ultracluster as uc
from ultracluster import Job
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"
TYPES = {
    "AWS::EC2::SecurityGroup",
    "AWS::IAM::Role",
    "AWS::Lambda::Function",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    "AWS::SNS::Topic",
}


@dataclass
class World:
    stack: cdk.Stack
    cluster: uc.UltraCluster
    jobs: list[uc.MultiNodeJob | uc.SingleNodeJob | uc.PrecompileJob]


@pytest.fixture
def world() -> World:
    """One of each construct that has such a resource."""
    stack = new_stack()
    cluster = ultra_cluster(
        stack, capacity=block(), cluster_name="llama", alarms=uc.Alarms(emails=["jane@example.com"])
    )
    command = ["train.py"]
    multi = cluster.add_multi_node_job("Multi", Job(image=IMAGE, command=command, nodes=2))
    single = cluster.add_single_node_job("Single", Job(image=IMAGE, command=command))
    precompile = cluster.add_precompile_job(
        "Precompile", Job(image=IMAGE, command=command, instance_type="trn2.3xlarge")
    )
    uc.DatasetBucket(stack, "Dataset")
    elsewhere = s3.Bucket.from_bucket_name(stack, "Elsewhere", "cache-elsewhere")
    uc.CompileCache(stack, "Copied", replicate_to=[elsewhere], request_metrics=True)
    uc.ClusterBudget(stack, "Budget", monthly_usd=1000, tag_value="llama", queues_to_close=[cluster.queue])
    uc.CapacityGuard(stack, "Guard")
    return World(stack, cluster, [multi, single, precompile])


def resources(stack: cdk.Stack) -> Iterator[tuple[str, cdk.CfnResource]]:
    for each in stack.node.find_all():
        if isinstance(each, cdk.CfnResource) and each.cfn_resource_type in TYPES:
            yield stack.resolve(each.logical_id), each


def use_everything(world: World) -> None:
    """Read every property and call every grant of our constructs, and add what a cluster can add."""
    grantee = iam.Role(world.stack, "Grantee", assumed_by=iam.AccountRootPrincipal())
    ours = [each for each in world.stack.node.find_all() if type(each).__module__.startswith("ultracluster.")]
    for each in ours:
        for name, member in _members(each).items():
            if isinstance(member, property):
                _read(each, name)
            elif name.startswith("grant_"):
                for who in (grantee, *world.jobs):
                    getattr(each, name)(who)
    world.cluster.add_queue("second")
    world.cluster.add_multi_node_job("Later", Job(image=IMAGE, command=("train.py",), nodes=2))
    world.cluster.network.connections.allow_from_any_ipv4(cdk.aws_ec2.Port.tcp(22))
    for job in world.jobs:
        job.role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name("ReadOnlyAccess"))


def _members(construct: object) -> dict[str, Any]:
    """What our classes add to those of the CDK."""
    kinds = [each for each in type(construct).__mro__ if each.__module__.startswith("ultracluster.")]
    return {name: getattr(kind, name) for kind in kinds for name in vars(kind) if not name.startswith("_")}


def _read(construct: object, name: str) -> None:
    with contextlib.suppress(FindingsError):
        getattr(construct, name)


def after_use(world: World) -> dict[str, Any]:
    use_everything(world)
    return dict(cdk.assertions.Template.from_stack(world.stack).to_json()["Resources"])


@jsii.implements(cdk.IAspect)
class _Describe:
    def visit(self, node: IConstruct) -> None:
        if isinstance(node, cdk.CfnResource) and node.cfn_resource_type in TYPES:
            node.add_property_override("Visited", "yes")


def test_overrides_removal_policies_tags_and_aspects_stay(world: World) -> None:
    given = dict(resources(world.stack))
    assert {each.cfn_resource_type for each in given.values()} == TYPES
    for each in given.values():
        each.add_property_override("Overridden", "by the user")
        each.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        cdk.Tags.of(_l2(each)).add("team", "red")
        cdk.Aspects.of(_l2(each)).add(_Describe())

    made = after_use(world)
    for key in given:
        properties = made[key]["Properties"]
        assert (properties["Overridden"], properties["Visited"]) == ("by the user", "yes")
        assert made[key]["DeletionPolicy"] == "RetainExceptOnCreate"
        tags = properties["Tags"]
        if isinstance(tags, list):
            tags = {each["Key"]: each["Value"] for each in tags}
        assert tags["team"] == "red"


@pytest.mark.parametrize("whole_stack", [True, False], ids=["of the stack", "of each role"])
def test_permissions_boundaries_stay(world: World, *, whole_stack: bool) -> None:
    policy = iam.ManagedPolicy.from_managed_policy_arn(world.stack, "Boundary", BOUNDARY)
    roles = {key: each for key, each in resources(world.stack) if each.cfn_resource_type == "AWS::IAM::Role"}
    for scope in [world.stack] if whole_stack else map(_l2, roles.values()):
        iam.PermissionsBoundary.of(scope).apply(policy)

    made = after_use(world)
    assert [key for key in roles if made[key]["Properties"].get("PermissionsBoundary") != BOUNDARY] == []


def _l2(resource: cdk.CfnResource) -> Construct:
    """The construct that a resource belongs to, which is what users have in their hands."""
    scope = resource.node.scope
    assert isinstance(scope, Construct)
    return scope
