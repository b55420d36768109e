"""The IAM policy of each tier: the actions of its calls, each limited as far as AWS lets one limit it."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

__all__ = ["FOLDER", "actions_of", "check_policy", "policy"]

FOLDER: Final = Path(__file__).parent / "tier_policies"

_PREFIXES: Final = {"service-quotas": "servicequotas", "accessanalyzer": "access-analyzer"}
_OTHER_NAMES: Final = {
    ("s3", "ListBuckets"): "s3:ListAllMyBuckets",
    ("s3", "ListObjectsV2"): "s3:ListBucket",
    ("s3", "ListObjectVersions"): "s3:ListBucketVersions",
    ("lambda", "Invoke"): "lambda:InvokeFunction",
}
_TAGGING: Final = {
    "batch": "batch:TagResource",
    "cloudformation": "cloudformation:TagResource",
    "dynamodb": "dynamodb:TagResource",
    "ec2": "ec2:CreateTags",
    "fsx": "fsx:TagResource",
    "iam": "iam:TagRole",
}
_PASSES: Final = {
    ("batch", "CreateComputeEnvironment"),
    ("cloudformation", "CreateStack"),
    ("ec2", "RunInstances"),
    ("scheduler", "UpdateSchedule"),
}
_READS: Final = ("BatchGet", "Describe", "Filter", "Get", "List", "Lookup", "Simulate", "Validate")

_BY_TAG: Final = {"Null": {"aws:ResourceTag/ultracluster:live": "false"}}
_WITH_TAG: Final = {"Null": {"aws:RequestTag/ultracluster:live": "false"}}
_SCOPES: Final[Mapping[str, tuple[str, Mapping[str, Any] | None]]] = {
    "batch:CreateComputeEnvironment": ("*", _WITH_TAG),
    "batch:CreateJobQueue": ("*", _WITH_TAG),
    "batch:DeleteComputeEnvironment": ("*", _BY_TAG),
    "batch:DeleteJobQueue": ("*", _BY_TAG),
    "batch:SubmitJob": ("*", _WITH_TAG),
    "batch:TagResource": ("*", _WITH_TAG),
    "batch:TerminateJob": ("*", _BY_TAG),
    "batch:UpdateComputeEnvironment": ("*", _BY_TAG),
    "batch:UpdateJobQueue": ("*", _BY_TAG),
    "cloudformation:CreateStack": ("arn:aws:cloudformation:*:*:stack/live-*", None),
    "cloudformation:DeleteStack": ("arn:aws:cloudformation:*:*:stack/live-*", None),
    "cloudformation:TagResource": ("arn:aws:cloudformation:*:*:stack/live-*", None),
    "cloudformation:UpdateStack": ("arn:aws:cloudformation:*:*:stack/live-*", None),
    "dynamodb:CreateTable": ("arn:aws:dynamodb:*:*:table/live-*", None),
    "dynamodb:DeleteTable": ("arn:aws:dynamodb:*:*:table/live-*", None),
    "dynamodb:TagResource": ("arn:aws:dynamodb:*:*:table/live-*", None),
    "dynamodb:UpdateItem": ("arn:aws:dynamodb:*:*:table/live-*", None),
    "ec2:CancelCapacityReservation": ("*", _BY_TAG),
    "ec2:CreateCapacityReservation": ("*", _WITH_TAG),
    "ec2:CreateLaunchTemplate": ("*", _WITH_TAG),
    "ec2:CreateTags": (
        "*",
        {
            "StringEquals": {
                "ec2:CreateAction": [
                    "CreateCapacityReservation",
                    "CreateLaunchTemplate",
                    "PurchaseCapacityBlock",
                    "RunInstances",
                ]
            }
        },
    ),
    "ec2:DeleteLaunchTemplate": ("*", _BY_TAG),
    "ec2:DeleteNetworkInterface": ("*", _BY_TAG),
    "ec2:DeleteSecurityGroup": ("*", _BY_TAG),
    "ec2:PurchaseCapacityBlock": ("*", None),  # nothing limits it but the budget of the run
    "ec2:PurchaseCapacityBlockExtension": ("*", _BY_TAG),
    "ec2:RunInstances": ("*", None),  # AWS asks it of images, subnets and groups too, which have other tags
    "ec2:TerminateInstances": ("*", _BY_TAG),
    "events:DeleteRule": ("arn:aws:events:*:*:rule/live-*", None),
    "events:PutRule": ("arn:aws:events:*:*:rule/live-*", None),
    "events:PutTargets": ("arn:aws:events:*:*:rule/live-*", None),
    "events:RemoveTargets": ("arn:aws:events:*:*:rule/live-*", None),
    "fsx:CreateFileSystem": ("*", _WITH_TAG),
    "fsx:DeleteFileSystem": ("*", _BY_TAG),
    "fsx:TagResource": ("*", _WITH_TAG),
    "iam:CreateRole": ("arn:aws:iam::*:role/live-*", None),
    "iam:DeleteRole": ("arn:aws:iam::*:role/live-*", None),
    "iam:DeleteRolePolicy": ("arn:aws:iam::*:role/live-*", None),
    "iam:PassRole": (
        "arn:aws:iam::*:role/*",
        {
            "StringEquals": {
                "iam:PassedToService": [
                    "batch.amazonaws.com",
                    "cloudformation.amazonaws.com",
                    "ec2.amazonaws.com",
                    "scheduler.amazonaws.com",
                ]
            }
        },
    ),
    "iam:PutRolePolicy": ("arn:aws:iam::*:role/live-*", None),
    "iam:TagRole": ("arn:aws:iam::*:role/live-*", None),
    "logs:CreateLogGroup": ("arn:aws:logs:*:*:log-group:live-*", None),
    "logs:DeleteLogGroup": ("arn:aws:logs:*:*:log-group:*live-*", None),
    "logs:PutResourcePolicy": ("*", None),
    "s3:CreateBucket": ("arn:aws:s3:::live-*", None),
    "s3:DeleteBucket": ("arn:aws:s3:::live-*", None),
    "s3:DeleteObject": ("arn:aws:s3:::live-*", None),
    "s3:DeleteObjectVersion": ("arn:aws:s3:::live-*", None),
    "s3:GetObject": ("arn:aws:s3:::live-*", None),
    "s3:PutBucketTagging": ("arn:aws:s3:::live-*", None),
    "s3:PutObject": ("arn:aws:s3:::live-*", None),
    "scheduler:UpdateSchedule": ("arn:aws:scheduler:*:*:schedule/default/live-*", None),
    "ssm:SendCommand": ("*", None),
    "sts:AssumeRole": ("arn:aws:iam::*:role/live-*", None),
}


def actions_of(service: str, operation: str, request: Mapping[str, Any]) -> set[str]:
    """Return the IAM actions that a call needs: its own, those of tagging, and that of passing a role.

    Args:
        service: Service as boto3 names it.
        operation: Operation of the API.
        request: Parameters.
    """
    prefix = _PREFIXES.get(service, service)
    own = _OTHER_NAMES.get((service, operation), f"{prefix}:{operation}")
    if own == "s3:DeleteObject" and "VersionId" in request:
        own = "s3:DeleteObjectVersion"
    found = {own}
    if (
        {"TagSpecifications", "Tags", "tags"} & set(request)
        and service in _TAGGING
        and not operation.startswith("Describe")
    ):
        found.add(_TAGGING[service])
    if (service, operation) in _PASSES:
        found.add("iam:PassRole")
    return found


def policy(actions: Iterable[str]) -> dict[str, Any]:
    """Return a policy that allows actions, each with the narrowest resource and condition that the table has.

    Raises:
        KeyError: If an action that changes something is not in the table.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for action in sorted(set(actions)):
        reads = action.partition(":")[2].startswith(_READS) and action not in _SCOPES
        groups[json.dumps(("*", None) if reads else _SCOPES[action])].append(action)
    statements = []
    for scope, allowed in sorted(groups.items(), key=lambda item: item[1]):
        resource, condition = json.loads(scope)
        statement = {"Effect": "Allow", "Action": allowed, "Resource": resource}
        statements.append({**statement, "Condition": condition} if condition else statement)
    return {"Version": "2012-10-17", "Statement": statements}


def check_policy(tier: int, actions: Iterable[str]) -> None:
    """Assert that the file of a tier is the policy of its calls. `UC_WRITE_POLICIES=1` writes it.

    Raises:
        AssertionError: If an action is missing or not used.
    """
    path = FOLDER / f"tier{tier}.json"
    needed = policy(actions)
    if os.environ.get("UC_WRITE_POLICIES"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(needed, indent=2) + "\n", encoding="utf-8")
    allowed = json.loads(path.read_text("utf-8"))
    have, want = (
        {action for statement in each["Statement"] for action in statement["Action"]}
        for each in (allowed, needed)
    )
    assert have == want, f"{path.name}: missing {sorted(want - have)}, not used {sorted(have - want)}"
    assert allowed == needed, f"{path.name}: resources or conditions differ"
