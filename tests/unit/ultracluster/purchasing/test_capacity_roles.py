import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import assertions
from aws_cdk import aws_iam as iam
from botocore import xform_name
from tests.unit.ultracluster.builders import REGION
from tests.unit.ultracluster.iam_evaluation import ACCOUNT, allows, as_list, identity_statements

import ultracluster_runtime
from ultracluster import CapacityLedger, CapacityPurchaseRole, CapacitySearchRole
from ultracluster_runtime.purchasing.orders import ORDER_TAG
from ultracluster_runtime.rollout.rehearsal_record import parameter_name
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

RESERVATION = f"arn:aws:ec2:{REGION}:{ACCOUNT}:capacity-reservation/cr-0123456789abcdef0"
BLOCK = f"arn:aws:ec2:{REGION}:{ACCOUNT}:capacity-block/cb-0123456789abcdef0"
HERE = {"ec2:Region": REGION}
ORDERED = {f"aws:RequestTag/{ORDER_TAG}": "december"}
BOUGHT_BY_US = {f"aws:ResourceTag/{ORDER_TAG}": "december"}
# What the Service Authorization Reference documents of a purchase, and what EC2 may say beyond.
PURCHASE: dict[str, Any] = HERE | ORDERED
WITH_SIZE: dict[str, Any] = {"ec2:InstanceType": "trn2.48xlarge", "ec2:InstanceCount": 16}
BUY, EXTEND, RESERVE, CANCEL = (
    "ec2:PurchaseCapacityBlock",
    "ec2:PurchaseCapacityBlockExtension",
    "ec2:CreateCapacityReservation",
    "ec2:CancelCapacityReservation",
)

Policy = list[dict[str, Any]]


def buyer(*, also: iam.PolicyStatement | None = None, **changes: Any) -> Policy:
    """Statements of a purchase role: 16 trn2.48xlarge in one Region; `also` is what somebody attached to it."""
    stack = cdk.Stack(cdk.App(), "Test", env=cdk.Environment(account=ACCOUNT, region=REGION))
    terms: dict[str, Any] = {
        "trusted_by": iam.AccountRootPrincipal(),
        "ledger": CapacityLedger(stack, "Ledger"),
        "regions": [REGION],
        "instance_types": ["trn2.48xlarge"],
        "max_instances": 16,
    }
    role = CapacityPurchaseRole(stack, "Buyer", **terms | changes)
    if also is not None:
        iam.Policy(stack, "Also", roles=[role.role], statements=[also])
    return _statements(stack)


def searcher(*, also: iam.PolicyStatement | None = None) -> Policy:
    stack = cdk.Stack(cdk.App(), "Test", env=cdk.Environment(account=ACCOUNT, region=REGION))
    role = CapacitySearchRole(
        stack, "Searcher", trusted_by=iam.AccountRootPrincipal(), ledger=CapacityLedger(stack, "Ledger")
    )
    if also is not None:
        iam.Policy(stack, "Also", roles=[role.role], statements=[also])
    return _statements(stack)


def _statements(stack: cdk.Stack) -> Policy:
    (role_id,) = assertions.Template.from_stack(stack).find_resources("AWS::IAM::Role")
    return identity_statements(stack, role_id)


def everything() -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=["*"], resources=["*"])


@pytest.fixture(scope="module")
def bought() -> Policy:
    return buyer()


@pytest.fixture(scope="module")
def searched() -> Policy:
    return searcher()


def test_allows_purchases_and_reservations_with_the_tag_of_an_order(bought: Policy) -> None:
    assert allows(bought, BUY, RESERVATION, PURCHASE), "the keys that AWS documents"
    assert allows(bought, BUY, RESERVATION, PURCHASE | WITH_SIZE)
    assert allows(bought, RESERVE, RESERVATION, PURCHASE | WITH_SIZE)


@pytest.mark.parametrize("action", [BUY, RESERVE])
def test_nothing_is_bought_without_the_tag_of_its_order(bought: Policy, action: str) -> None:
    assert not allows(bought, action, RESERVATION, HERE | WITH_SIZE)
    assert not allows(bought, action, RESERVATION, HERE | WITH_SIZE | {"aws:RequestTag/Name": "december"})


@pytest.mark.parametrize("action", [BUY, EXTEND, RESERVE, CANCEL])
def test_nothing_is_bought_in_another_region(bought: Policy, action: str) -> None:
    elsewhere = PURCHASE | WITH_SIZE | BOUGHT_BY_US | {"ec2:Region": "us-west-2"}
    assert allows(bought, action, RESERVATION, elsewhere | HERE)
    assert not allows(bought, action, RESERVATION.replace(REGION, "us-west-2"), elsewhere)


@pytest.mark.parametrize("action", [BUY, RESERVE])
@pytest.mark.parametrize(
    ("size", "allowed"),
    [
        ({"ec2:InstanceCount": 1}, True),
        ({"ec2:InstanceCount": 16}, True),
        ({"ec2:InstanceCount": 17}, False),
        ({"ec2:InstanceType": "trn2.3xlarge"}, False),
        ({"ec2:InstanceType": "p5.48xlarge"}, False),
    ],
)
def test_caps_on_type_and_count_hold_where_ec2_supports_them(
    bought: Policy, action: str, size: dict[str, Any], *, allowed: bool
) -> None:
    assert allows(bought, action, RESERVATION, PURCHASE | WITH_SIZE | size) is allowed


@pytest.mark.parametrize("missing", ["ec2:InstanceType", "ec2:InstanceCount"])
def test_a_reservation_of_unknown_size_is_not_made(bought: Policy, missing: str) -> None:
    known = {key: value for key, value in WITH_SIZE.items() if key != missing}
    assert not allows(bought, RESERVE, RESERVATION, PURCHASE | known)


@pytest.mark.parametrize("action", [EXTEND, CANCEL])
def test_only_what_was_bought_by_an_order_is_extended_and_cancelled(bought: Policy, action: str) -> None:
    assert allows(bought, action, RESERVATION, HERE | BOUGHT_BY_US)
    assert not allows(bought, action, RESERVATION, HERE)


@pytest.mark.parametrize("resource", [RESERVATION, BLOCK])
@pytest.mark.parametrize(
    ("create_action", "allowed"),
    [
        ({"ec2:CreateAction": "PurchaseCapacityBlock"}, True),
        ({"ec2:CreateAction": "CreateCapacityReservation"}, True),
        ({"ec2:CreateAction": "RunInstances"}, False),
        ({}, False),
    ],
)
def test_tags_are_set_during_a_purchase_only(
    bought: Policy, resource: str, create_action: dict[str, str], *, allowed: bool
) -> None:
    assert allows(bought, "ec2:CreateTags", resource, HERE | ORDERED | create_action) is allowed
    assert not allows(bought, "ec2:DeleteTags", resource, HERE)


@pytest.mark.parametrize(
    "action",
    [
        "ec2:RunInstances",
        "ec2:ModifyCapacityReservation",
        "ec2:PurchaseHostReservation",
        "ec2:PurchaseReservedInstancesOffering",
        "iam:PassRole",
        "cloudformation:CreateStack",
        "dynamodb:DeleteTable",
        "dynamodb:UpdateContinuousBackups",
        "sagemaker:CreateTrainingPlan",
    ],
)
def test_a_buyer_does_nothing_else(bought: Policy, action: str) -> None:
    assert not allows(bought, action, "*", PURCHASE | WITH_SIZE)
    assert not allows(bought, action, RESERVATION, PURCHASE | WITH_SIZE)


def test_a_policy_that_is_attached_later_does_not_lift_tag_and_region() -> None:
    policy = buyer(also=everything())
    assert allows(policy, BUY, RESERVATION, PURCHASE)
    assert not allows(policy, BUY, RESERVATION, HERE)
    assert not allows(policy, BUY, RESERVATION, PURCHASE | {"ec2:Region": "us-west-2"})
    assert not allows(policy, EXTEND, RESERVATION, BOUGHT_BY_US | {"ec2:Region": "us-west-2"})


def modules_of_the_commands() -> set[Path]:
    """Modules of the runtime that the commands which find and buy capacity import, directly or through others."""
    root = Path(ultracluster_runtime.__file__).parent
    found: set[Path] = set()
    waiting = sorted((root.parents[1] / "cli/ultracluster_cli/capacity").glob("*.py"))
    assert len(waiting) > 5
    while waiting:
        for node in ast.walk(ast.parse(waiting.pop().read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ultracluster_runtime"):
                parts = (node.module or "").split(".")[1:]
                names = [parts] if parts else [[alias.name] for alias in node.names]
                paths = {root.joinpath(*each).with_suffix(".py") for each in names if each}
                new = {path for path in paths if path.exists()} - found
                found |= new
                waiting += sorted(new)
    return found


def calls_of_the_buyer() -> set[str]:
    """Every operation of EC2, quotas and prices that the commands name, in any spelling, as an IAM action."""
    session = botocore.session.get_session()
    operations = {
        xform_name(name): f"{prefix}:{name}"
        for prefix, service in (("ec2", "ec2"), ("servicequotas", "service-quotas"), ("pricing", "pricing"))
        for name in session.get_service_model(service).operation_names
    }
    words = set()
    for path in modules_of_the_commands():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                words.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.add(node.value)
    return {operations[word] for word in words & operations.keys()}


def test_the_purchase_role_allows_every_call_of_the_commands(bought: Policy) -> None:
    calls = calls_of_the_buyer()
    assert {BUY, EXTEND, RESERVE, CANCEL, "ec2:DescribeCapacityBlockOfferings"} <= calls
    request = PURCHASE | WITH_SIZE | BOUGHT_BY_US
    assert [call for call in calls if not allows(bought, call, RESERVATION, request)] == []


def test_the_search_role_allows_every_read_of_the_commands(searched: Policy) -> None:
    reads = {
        call for call in calls_of_the_buyer() if call.split(":")[1].startswith(("Describe", "Get", "List"))
    }
    assert len(reads) >= 5
    assert [call for call in reads if not allows(searched, call)] == []


@pytest.mark.parametrize("make", [buyer, searcher])
def test_both_read_the_ledger(make: Callable[[], Policy]) -> None:
    policy = make()
    table = next(each["Resource"] for each in policy if "dynamodb:GetItem" in as_list(each["Action"]))
    assert allows(policy, "dynamodb:Query", table)


def record(region: str, name: str) -> str:
    return f"arn:aws:ssm:{region}:{ACCOUNT}:parameter{name}"


@pytest.mark.parametrize("make", [buyer, searcher])
def test_both_read_whether_a_cluster_was_rehearsed_and_no_other_parameter(make: Callable[[], Policy]) -> None:
    policy = make()
    assert allows(policy, "ssm:GetParameter", record(REGION, parameter_name("december")))
    assert not allows(policy, "ssm:GetParameter", record(REGION, "/cdk-bootstrap/hnb659fds/version"))
    assert not allows(policy, "ssm:PutParameter", record(REGION, parameter_name("december")))
    elsewhere = record("us-west-2", parameter_name("december"))
    assert allows(policy, "ssm:GetParameter", elsewhere) is (make is searcher)


SPENDING = (BUY, EXTEND, RESERVE, "ec2:ModifyCapacityReservation", "sagemaker:CreateTrainingPlan")


@pytest.mark.parametrize("action", SPENDING)
def test_a_searcher_never_buys_under_any_attached_policy(searched: Policy, action: str) -> None:
    request = PURCHASE | WITH_SIZE | BOUGHT_BY_US
    assert not allows(searched, action, RESERVATION, request)
    attached = searcher(also=everything())
    assert allows(attached, "ec2:RunInstances", "*", HERE)
    assert not allows(attached, action, RESERVATION, request)


def test_a_searcher_changes_nothing(searched: Policy) -> None:
    verbs = {
        action.split(":")[1]
        for each in searched
        if each["Effect"] == "Allow"
        for action in as_list(each["Action"])
    }
    assert verbs
    assert {
        verb for verb in verbs if not verb.startswith(("Describe", "Get", "List", "Query", "Scan"))
    } == set()


def test_every_action_is_one_that_aws_has(bought: Policy, searched: Policy) -> None:
    session = botocore.session.get_session()
    services = {"ec2": "ec2", "dynamodb": "dynamodb", "servicequotas": "service-quotas", "pricing": "pricing"}
    services |= {"sagemaker": "sagemaker", "ssm": "ssm"}
    allowed = [each for each in [*bought, *searched] if each["Effect"] == "Allow"]
    actions = {action for each in allowed for action in as_list(each["Action"])}
    assert len(actions) > 20
    for action in actions:
        service, _, name = action.partition(":")
        operations = session.get_service_model(services[service]).operation_names
        prefix = name.removesuffix("*")
        assert any(each == name or (prefix != name and each.startswith(prefix)) for each in operations), (
            action
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"regions": []}, r"UC7201: \S+: regions"),
        ({"regions": "us-east-2"}, "UC1032"),
        ({"regions": ["us-*"]}, r"UC7201: \S+: regions: got 'us-\*'"),
        ({"instance_types": []}, r"UC7202: \S+: instance_types"),
        ({"instance_types": "trn2.48xlarge"}, "UC1032"),
        ({"instance_types": ["trn2.48xlarge", "trn9.48xlarge"]}, "UC4001"),
        ({"max_instances": 0}, r"UC7203: \S+: max_instances"),
        ({"max_instances": True}, "UC1030"),
        ({"trusted_by": iam.AnyPrincipal()}, r"UC7204: \S+: trusted_by"),
        ({"trusted_by": iam.ArnPrincipal("*")}, "UC7204"),
    ],
)
def test_rejects_limits_without_effect(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FindingsError, match=message):
        buyer(**changes)


def test_all_errors_are_raised_together() -> None:
    with pytest.raises(FindingsError) as caught:
        buyer(regions=["everywhere"], instance_types=["trn9.48xlarge"], max_instances=0)
    assert [each.code for each in caught.value.findings] == ["UC7201", "UC4001", "UC7203"]


def test_an_organization_with_its_condition_may_assume_a_role() -> None:
    assert buyer(trusted_by=iam.OrganizationPrincipal("o-1234567890"))


def test_rejects_a_search_role_that_anyone_could_assume(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC7204"):
        CapacitySearchRole(stack, "Searcher", trusted_by=iam.AnyPrincipal())
