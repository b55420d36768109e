"""What actions grant, held against the actions that AWS documents, as cfn-lint ships them."""

import json
import re
from importlib import resources

import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data

from ultracluster_spec.grants import (
    HARMLESS_POLICIES,
    NEVER,
    POWERFUL_POLICIES,
    SPENDING,
    forbidden,
    is_named,
    overlap,
    powers,
)

_ACTIONS = json.loads(resources.files("cfnlint.data.AdditionalSpecs").joinpath("Policies.json").read_text())
_READS = re.compile(r"(describe|get|list|search|simulate|generate)")
_OF_CAPACITY = re.compile(
    r"purchas|capacityreservation|reservedinstan|capacityblock|trainingplan|reservedcapacity|allocatehosts"
)
# Not of capacity that a job could spend on: who is billed is somebody else's decision, and instances are moved only.
_HARMLESS = {
    "associatecapacityreservationbillingowner",
    "cancelreservedinstanceslisting",
    "deletequeuedreservedinstances",
    "disassociatecapacityreservationbillingowner",
    "modifyinstancecapacityreservationattributes",
    "rejectcapacityreservationbillingownership",
}


def documented(service: str) -> list[str]:
    return [f"{service}:{name}" for name in _ACTIONS[service]["Actions"]]


def test_every_action_that_spends_is_documented_and_denied() -> None:
    known = {action for service in ("ec2", "sagemaker", "savingsplans") for action in documented(service)}

    assert {action.lower() for action in SPENDING} <= known
    assert all(forbidden(action) for action in SPENDING)


def test_what_is_denied_is_all_that_aws_documents_of_capacity_and_of_iam_and_no_read() -> None:
    spends = {
        action
        for service in ("ec2", "sagemaker", "savingsplans")
        for action in documented(service)
        if _OF_CAPACITY.search(action) and not _READS.match(action.split(":")[1])
    }
    denied = {action for service in _ACTIONS for action in documented(service) if forbidden(action)}
    iam = {action for action in documented("iam") if not _READS.match(action.split(":")[1])}

    assert {action.split(":")[1] for action in spends - denied} == _HARMLESS
    assert iam - denied == {"iam:passrole"}
    assert not [action for action in denied if _READS.match(action.split(":")[1])]
    assert {action.split(":")[0] for action in denied} == {"ec2", "iam", "sagemaker", "savingsplans"}


def test_each_pattern_denies_something() -> None:
    known = [action for service in _ACTIONS for action in documented(service)]

    assert [each for each in NEVER if not any(overlap(each, action) for action in known)] == []


@pytest.mark.parametrize(
    ("action", "granted"),
    [
        ("ec2:PurchaseCapacityBlock", True),
        ("EC2:purchasecapacityblock", True),
        ("ec2:Purchase*", True),
        ("ec2:P?rchaseCapacityBlock", True),
        ("ec2:*CapacityBlock*", True),
        ("ec2:*", True),
        ("*", True),
        ("iam:*Policy", True),
        ("iam:PassRole", False),
        ("iam:Get*", False),
        ("ec2:Describe*", False),
        ("ec2:DescribeCapacityReservations", False),
        ("sagemaker:DescribeTrainingPlan", False),
        ("s3:GetObject", False),
    ],
)
def test_an_action_is_judged_by_what_it_covers_and_not_by_its_spelling(action: str, *, granted: bool) -> None:
    assert forbidden(action) == granted


@pytest.mark.parametrize(
    ("action", "power"),
    [
        ("iam:PassRole", "acts as another role"),
        ("sts:AssumeRoleWithWebIdentity", "acts as another role"),
        ("s3:DeleteObjectVersion", "deletes data"),
        ("s3:*", "deletes data"),
        ("ec2:terminateinstances", "ends nodes or jobs"),
        ("batch:SubmitJob", "starts what is paid"),
        ("lambda:UpdateFunctionCode", "runs code elsewhere"),
        ("iam:CreateRole", "buys capacity or changes permissions"),
    ],
)
def test_what_lets_a_program_act_beyond_its_work_is_named(action: str, power: str) -> None:
    assert next(powers(action)) == power


@pytest.mark.parametrize(
    "action",
    [
        "s3:GetObject",
        "s3:PutObject",
        "s3:ListBucket",
        "cloudwatch:PutMetricData",
        "ecr:BatchGetImage",
        "sts:GetCallerIdentity",
    ],
)
def test_what_programs_usually_do_has_no_power(action: str) -> None:
    assert [*powers(action)] == []


POLICIES = {
    name: policy
    for name, policy in json.loads(aws_managed_policies_data).items()
    if not policy["Path"].startswith("/aws-service-role")
}


def allowed_by(name: str) -> set[str]:
    """What a managed policy of AWS allows beyond the work of a program, by its document as moto ships it."""
    statements = POLICIES[name]["Document"]["Statement"]
    found = set()
    for statement in statements if isinstance(statements, list) else [statements]:
        if statement["Effect"] == "Allow":
            actions = statement.get("Action", "*")  # NotAction allows all others
            for action in actions if isinstance(actions, list) else [actions]:
                found |= set(powers(action))
    return found


@pytest.mark.parametrize("name", POWERFUL_POLICIES)
def test_the_table_says_of_a_managed_policy_what_its_document_allows(name: str) -> None:
    assert set(POWERFUL_POLICIES[name]) == allowed_by(name)


def test_policies_that_are_called_harmless_are() -> None:
    harmless = [name for name in POLICIES if HARMLESS_POLICIES.fullmatch(name)]

    assert len(harmless) > 200
    assert {name: found for name in harmless if (found := allowed_by(name))} == {}


@pytest.mark.parametrize(
    ("resource", "power", "named"),
    [
        ("*", "deletes data", False),
        ("arn:aws:s3:::*", "deletes data", False),
        ("arn:aws:s3:::*/tmp", "deletes data", False),
        ("arn:aws:s3:::data/*", "deletes data", True),
        ("arn:aws:batch:us-east-2:123456789012:job-queue/*", "starts what is paid", False),
        ("arn:aws:batch:us-east-2:123456789012:job-queue/train", "starts what is paid", True),
        ("arn:aws:ec2:us-east-2:123456789012:instance/i-0*", "ends nodes or jobs", True),
        ("arn:aws:iam::123456789012:role/*", "acts as another role", False),
        ("arn:aws:iam::123456789012:role/train-*", "acts as another role", False),
        ("arn:aws:iam::*:role/train", "acts as another role", False),
        ("arn:aws:iam::123456789012:role/train", "acts as another role", True),
    ],
)
def test_a_resource_is_named_or_is_everything_of_a_kind(resource: str, power: str, *, named: bool) -> None:
    assert is_named(resource, power) == named
