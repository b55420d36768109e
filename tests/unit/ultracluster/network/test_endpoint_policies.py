"""Endpoint policies, judged together with the policies of roles, as AWS does: both must allow a request."""

import json
from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import network, new_stack, of_type, ultra_cluster
from tests.unit.ultracluster.iam_evaluation import ACCOUNT, Context, allows, identity_statements, resolve

from ultracluster import CheckpointBucket, Job
from ultracluster_catalog.places.cluster_subnet import NODE_SERVICES

pytestmark = pytest.mark.slow

FOREIGN = "999999999999"
REGISTRY = "888888888888"
IMAGE = f"{REGISTRY}.dkr.ecr.us-east-2.amazonaws.com/training:v1"
PULL = ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")
OPEN = {"ecs", "ecs-agent", "ecs-telemetry", "ssmmessages"}


def of(account: str, *, caller: str = ACCOUNT) -> Context:
    """The keys of a request that a principal makes on a resource."""
    return {"aws:ResourceAccount": account, "aws:PrincipalAccount": caller}


def endpoints(stack: cdk.Stack) -> Mapping[str, list[dict[str, Any]] | None]:
    """The statements of each endpoint; None for one without a policy."""
    found = {}
    for each in of_type(stack, "AWS::EC2::VPCEndpoint"):
        properties = resolve(each["Properties"], stack.region)
        name = properties["ServiceName"].removeprefix(f"com.amazonaws.{stack.region}.")
        document = properties.get("PolicyDocument")
        found[name] = document["Statement"] if document else None
    return found


@pytest.fixture(scope="module")
def stack() -> cdk.Stack:
    """A cluster with its own network, and a job whose role may do more than its endpoints let through."""
    stack = new_stack()
    cluster = ultra_cluster(stack, compile_cache=s3.Bucket.from_bucket_name(stack, "Shared", "shared-cache"))
    job = cluster.add_multi_node_job("Train", Job(image=IMAGE, command=("train.py",)))
    for name in ("of-somebody-else", "corpus"):
        s3.Bucket.from_bucket_name(stack, name, name).grant_read_write(job)
    assert cluster.network.endpoint_policies
    cluster.network.endpoint_policies.allow_bucket("corpus")
    return stack


@pytest.fixture(scope="module")
def policies(stack: cdk.Stack) -> Mapping[str, list[dict[str, Any]] | None]:
    return endpoints(stack)


def reaches(policy: list[dict[str, Any]] | None, action: str, resource: str, context: Context) -> bool:
    assert policy is not None
    return allows(policy, action, resource, context)


def test_each_endpoint_but_those_without_a_list_of_aws_has_a_policy(
    policies: Mapping[str, list[dict[str, Any]] | None],
) -> None:
    assert set(policies) == {*NODE_SERVICES, "s3"}
    assert {name for name, policy in policies.items() if policy is None} == OPEN
    assert all(len(json.dumps(policy)) < 20_480 for policy in policies.values())  # a quota of AWS PrivateLink


def test_a_job_reaches_the_buckets_of_the_cluster_and_named_ones_only(
    stack: cdk.Stack, policies: Mapping[str, list[dict[str, Any]] | None]
) -> None:
    (role_id,) = (
        name
        for name, each in assertions.Template.from_stack(stack).find_resources("AWS::IAM::Role").items()
        if each["Properties"]["Description"] == "What the training program may do"
    )
    role = identity_statements(stack, role_id)
    checkpoints = next(
        each.bucket.bucket_arn for each in stack.node.find_all() if isinstance(each, CheckpointBucket)
    )
    own = resolve(stack.resolve(checkpoints), stack.region)
    for bucket, account, expected in (
        (own, ACCOUNT, True),
        ("arn:aws:s3:::shared-cache", FOREIGN, True),  # passed to the cluster
        ("arn:aws:s3:::corpus", FOREIGN, True),  # named on the network
        ("arn:aws:s3:::of-somebody-else", FOREIGN, False),
        ("arn:aws:s3:::corpus-2", FOREIGN, False),
    ):
        target = f"{bucket}/neuron/file"
        for action in ("s3:GetObject", "s3:PutObject"):
            if bucket != "arn:aws:s3:::corpus-2":
                assert allows(role, action, target), (action, target)
            assert reaches(policies["s3"], action, target, of(account)) is expected, (action, target)


@pytest.mark.parametrize("caller", [ACCOUNT, FOREIGN])
def test_no_credentials_write_to_a_bucket_of_somebody_else(
    policies: Mapping[str, list[dict[str, Any]] | None], caller: str
) -> None:
    for bucket in ("of-somebody-else", "prod-us-east-2-starport-layer-bucket", "aws-ssm-us-east-2"):
        target = f"arn:aws:s3:::{bucket}/x"
        assert not reaches(policies["s3"], "s3:PutObject", target, of(FOREIGN, caller=caller))


@pytest.mark.parametrize(
    "bucket",
    [
        "prod-us-east-2-starport-layer-bucket",
        "amazon-ecs-agent-us-east-2",
        "amazon-ssm-us-east-2",
        "patch-baseline-snapshot-us-east-2",
        "al2023-repos-us-east-2-de612dc2",
    ],
)
def test_nodes_read_the_buckets_of_aws_without_credentials_of_the_account(
    policies: Mapping[str, list[dict[str, Any]] | None], bucket: str
) -> None:
    context = {"aws:ResourceAccount": "111111111111", "aws:PrincipalAccount": "anonymous"}
    assert reaches(policies["s3"], "s3:GetObject", f"arn:aws:s3:::{bucket}/a/b", context)


@pytest.mark.parametrize("service", ["ecr.api", "ecr.dkr"])
def test_images_are_pulled_from_this_account_the_job_and_aws(
    policies: Mapping[str, list[dict[str, Any]] | None], service: str
) -> None:
    policy = policies[service]
    assert reaches(policy, "ecr:GetAuthorizationToken", "*", of(ACCOUNT))
    for account, pulls, pushes in (
        (ACCOUNT, True, True),
        (REGISTRY, True, False),
        ("763104351884", True, False),
        (FOREIGN, False, False),
    ):
        repository = f"arn:aws:ecr:us-east-2:{account}:repository/training"
        assert {reaches(policy, action, repository, of(account)) for action in PULL} == {pulls}
        assert reaches(policy, "ecr:PutImage", repository, of(account)) is pushes


def test_logs_metrics_and_the_agent_stay_in_this_account(
    policies: Mapping[str, list[dict[str, Any]] | None],
) -> None:
    for account in (ACCOUNT, FOREIGN):
        stream = f"arn:aws:logs:us-east-2:{account}:log-group:jobs:log-stream:train/default/1"
        own = account == ACCOUNT
        assert reaches(policies["logs"], "logs:PutLogEvents", stream, of(account)) is own
        for service, action in (
            ("monitoring", "cloudwatch:PutMetricData"),
            ("ssm", "ssm:UpdateInstanceInformation"),
        ):
            assert reaches(policies[service], action, "*", of(account, caller=account)) is own
    document = "arn:aws:ssm:us-east-2::document/AWS-RunShellScript"
    assert reaches(policies["ssm"], "ssm:GetDocument", document, {"aws:PrincipalAccount": ACCOUNT})


def test_another_account_is_allowed_by_name() -> None:
    other = new_stack()
    place = network(other)
    assert place.endpoint_policies
    place.endpoint_policies.allow_account(FOREIGN)
    found = endpoints(other)
    for service, action, resource in (
        ("s3", "s3:PutObject", "arn:aws:s3:::of-somebody-else/x"),
        ("ecr.dkr", "ecr:BatchGetImage", f"arn:aws:ecr:us-east-2:{FOREIGN}:repository/a"),
        ("logs", "logs:PutLogEvents", f"arn:aws:logs:us-east-2:{FOREIGN}:log-group:a:log-stream:b"),
        ("monitoring", "cloudwatch:PutMetricData", "*"),
    ):
        assert reaches(found[service], action, resource, of(FOREIGN, caller=FOREIGN)), service


@pytest.mark.parametrize(
    ("settings", "limited"),
    [
        ({}, True),
        ({"nat_gateway": True}, False),
        ({"nat_gateway": True, "limit_endpoints": True}, True),
        ({"limit_endpoints": False}, False),
    ],
)
def test_policies_are_for_networks_without_another_way_out_or_on_request(
    settings: dict[str, Any], limited: bool
) -> None:
    stack = new_stack()
    assert bool(network(stack, **settings).endpoint_policies) is limited
    assert any(policy is not None for policy in endpoints(stack).values()) is limited
