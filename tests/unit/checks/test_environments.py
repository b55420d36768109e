"""Rules for compute environments and job queues."""

from typing import Any

import pytest
from tests.unit.checks.defects import DROP
from tests.unit.checks.edits import BLOCK_ON_BATCH, CE, codes_after, statement

from ultracluster_checks import Source
from ultracluster_checks.table import RECORDS

MANAGED = "arn:aws:iam::aws:policy"


def inline(action: str) -> dict[str, Any]:
    """Return an inline policy that allows an action."""
    return {"PolicyName": "ecs", "PolicyDocument": {"Statement": [statement(Action=action)]}}


BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC4216", "batch-efa", {f"{CE}/LaunchTemplate/Version": DROP}),
    ("UC4120", "batch-efa", {"JobQueue/ComputeEnvironmentOrder": [{"Order": n} for n in range(4)]}),
    ("UC4222", "batch-efa", {"PlacementGroup/Strategy": "partition"}),
    ("UC4213", "batch-efa", {f"{CE}/MaxvCpus": 513}),
    ("UC4215", "batch-efa", {f"{CE}/InstanceTypes": ["trn1n.32xlarge"]}),
    ("UC4220", "batch-efa", {"Role:Node/ManagedPolicyArns": [f"{MANAGED}/AmazonSSMManagedInstanceCore"]}),
    (
        "UC4220",
        "batch-efa",
        {"Role:Node/ManagedPolicyArns": DROP, "Role:Node/Policies": [inline("ecs:Poll")]},
    ),
    (
        "UC6307",
        "batch-efa",
        BLOCK_ON_BATCH
        | {"JobQueue/JobStateTimeLimitActions": [{"Reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"}]},
    ),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("batch-efa", {f"{CE}/MaxvCpus": 640}),
    ("batch-efa", {"JobQueue/ComputeEnvironmentOrder": [{"Order": n} for n in range(3)]}),
    ("batch-efa", {f"{CE}/LaunchTemplate/Version": "3"}),
    (
        "batch-efa",
        {
            "Role:Node/ManagedPolicyArns": DROP,
            "Role:Node/Policies": [inline("ecs:*e*"), inline("ecs:Discover*"), inline("ecs:Poll")],
        },
    ),
    ("batch-efa", {"Role:Node/ManagedPolicyArns": ["arn:aws:iam::123456789012:policy/nodes"]}),
    ("batch-efa", {"Role:Node/ManagedPolicyArns": {"Fn::Split": [",", {"Ref": "AWS::StackName"}]}}),
    ("batch-efa", {f"{CE}/LaunchTemplate": {"Fn::If": ["Pinned", {"Version": "1"}, {"Version": "2"}]}}),
)

# As in AWS's templates for Capacity Blocks, 2026-11: awslabs/awsome-distributed-ai, 3.aws-batch for p5 and p6; the third is
# aws-samples/sample-aws-batch-capacity-block-reservations.
PUBLISHED_BLOCKS: tuple[dict[str, Any], ...] = (
    {f"{CE}/AllocationStrategy": "BEST_FIT", "ComputeEnvironment/ReplaceComputeEnvironment": DROP},
    {f"{CE}/AllocationStrategy": DROP, "ComputeEnvironment/ReplaceComputeEnvironment": DROP},
    {
        f"{CE}/AllocationStrategy": DROP,
        f"{CE}/MinvCpus": 128,
        "ComputeEnvironment/ComputeEnvironmentName": "blocks",
        "ComputeEnvironment/ReplaceComputeEnvironment": False,
    },
)


@pytest.mark.parametrize("edits", PUBLISHED_BLOCKS)
def test_environments_of_published_templates_for_blocks_have_no_error(
    foreign: dict[str, Source], edits: dict[str, Any]
) -> None:
    moving = {f"{CE}/LaunchTemplate/Version": "$Latest", f"{CE}/MaxvCpus": 100000}
    broken = codes_after(foreign, "batch-efa", BLOCK_ON_BATCH | edits | moving)
    assert [code for code in broken if RECORDS[code].severity == "error"] == []
    # AWS Batch refuses an update in place with BEST_FIT: https://repost.aws/knowledge-center/batch-update-ec2-environment
    assert ("UC4217" in broken) is (edits["ComputeEnvironment/ReplaceComputeEnvironment"] is False)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []
