"""Checks of IAM: service-linked roles, and permissions of the CDK bootstrap roles."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from ultracluster_runtime.preflight.account import identity
from ultracluster_runtime.preflight.check import (
    ACCOUNT_IS_KNOWN,
    BOOTSTRAPPED,
    AnyCheck,
    Outcome,
    check,
    failed,
    passed,
    warned,
)
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account, Part, Region
from ultracluster_spec.record import RuleRecord

_NO_SUCH: Final = ("NoSuchEntity",)

_bootstrap_check: Final = partial(check, subjects=Account.regions, after=(BOOTSTRAPPED,))


def _with_spot(account: Account) -> Iterator[Account]:
    if any(source.capacity.market_type == "spot" for source in account.sources()):
        yield account


def _with_new_storage(account: Account) -> Iterator[Account]:
    if any(cluster.file_system.is_new for cluster in account.clusters):
        yield account


def _service_role(code: str, role: str, service: str, subjects: Any, *, made_by: str = "") -> AnyCheck:
    command = f"`aws iam create-service-linked-role --aws-service-name {service}`"

    def gather(reader: AwsReader, account: Account) -> bool:
        return bool(reader.call_or_none("iam:GetRole", account.home, absent=_NO_SUCH, RoleName=role))

    def evaluate(_: Account, exists: bool) -> Outcome:
        if exists:
            return passed(f"{role} exists")
        if made_by:
            return warned(
                f"{role} does not exist yet; {made_by} creates it on first use if the deploying principal may",
                f"Or create it: {command}",
            )
        return failed(
            f"{role} does not exist, so Spot Instances cannot be requested", f"Create it: {command}"
        )

    return check(code, gather, subjects=subjects, after=ACCOUNT_IS_KNOWN)(evaluate)


_check_batch_role = _service_role(
    "UC9406", "AWSServiceRoleForBatch", "batch.amazonaws.com", lambda account: (account,), made_by="AWS Batch"
)
_check_spot_role = _service_role("UC9407", "AWSServiceRoleForEC2Spot", "spot.amazonaws.com", _with_spot)
_check_lustre_role = _service_role(
    "UC9408", "AWSServiceRoleForAmazonFSx", "fsx.amazonaws.com", _with_new_storage, made_by="Amazon FSx"
)


def _submitters(account: Account) -> Iterator[Part]:
    for cluster in account.clusters:
        for arn in cluster.submitters:
            yield Part(cluster=cluster, name=arn)


def _arn_of_role(reader: AwsReader, submitter: Part) -> str | None:
    name = submitter.name.rpartition("/")[2]
    role = reader.call_or_none("iam:GetRole", submitter.region, absent=_NO_SUCH, RoleName=name)
    return str(role["Role"]["Arn"]) if role else None


@check("UC9481", _arn_of_role, subjects=_submitters, after=ACCOUNT_IS_KNOWN)
def _check_submitter(submitter: Part, arn: str | None) -> Outcome:
    if arn == submitter.name:
        return passed("the role exists")
    remedy = "Name a role of this account, which others may assume"
    if arn is None:
        return failed(
            "this account has no such role, and the deployment would fail when it attaches the policy", remedy
        )
    return failed(f"the role of this name is {arn}, which would get the permission to submit jobs", remedy)


# Simulations


def _decisions(
    reader: AwsReader, region: str, *, principal: str, actions: Iterable[str], resources: Iterable[str]
) -> dict[str, str] | None:
    """Return IAM's decision for each action on all resources; None if it does not know the principal."""
    results = reader.call_or_none(
        "iam:SimulatePrincipalPolicy",
        region,
        absent=(*_NO_SUCH, "InvalidInput"),
        PolicySourceArn=principal,
        ActionNames=sorted(actions),
        ResourceArns=sorted(resources),
    )
    if results is None:
        return None
    decisions: dict[str, str] = {}
    for result in results["EvaluationResults"]:
        action, decision = result["EvalActionName"], result["EvalDecision"]
        decisions[action] = decision if decision != "allowed" else decisions.get(action, decision)
    return decisions


def _iam_arn(who: Mapping[str, Any], resource: str) -> str:
    partition = who["Arn"].split(":")[1]
    return f"arn:{partition}:iam::{who['Account']}:{resource}"


def _role_arn(who: Mapping[str, Any], name: str) -> str:
    return _iam_arn(who, f"role/{name}")


def _bootstrap_role(region: Region, who: Mapping[str, Any], purpose: str) -> str:
    return _role_arn(who, f"cdk-{region.qualifier}-{purpose}-role-{who['Account']}-{region.name}")


_ASSUMED: Final = ("deploy", "file-publishing", "lookup")


def _roles_to_assume(reader: AwsReader, region: Region) -> tuple[str, dict[str, str] | None]:
    caller = identity(reader, region.name)
    arn = str(caller["Arn"])
    if re.fullmatch(r"arn:[a-z-]+:iam::[0-9]{12}:root", arn):
        return arn, {"sts:AssumeRole": "allowed"}
    session = re.fullmatch(r"arn:[a-z-]+:sts::[0-9]{12}:assumed-role/([^/]+)/.*", arn)
    if session:  # the session's ARN omits the path of its role
        role = reader.call_or_none("iam:GetRole", region.name, absent=_NO_SUCH, RoleName=session[1])
        arn = role["Role"]["Arn"] if role else _role_arn(caller, session[1])
    return arn, _decisions(
        reader,
        region.name,
        principal=arn,
        actions=["sts:AssumeRole"],
        resources=[_bootstrap_role(region, caller, purpose) for purpose in _ASSUMED],
    )


@_bootstrap_check("UC9409", _roles_to_assume)
def _check_roles_to_assume(_: Region, result: tuple[str, dict[str, str] | None]) -> Outcome:
    """Check that the credentials may assume the deployment roles; the trust policies are not simulated."""
    principal, decisions = result
    if decisions is None:
        return warned(
            f"IAM cannot simulate {principal}",
            "Check that it may assume the cdk-* roles: `cdk deploy` reports it at its first call",
        )
    if all(decision == "allowed" for decision in decisions.values()):
        return passed(f"{principal} may assume the roles for {', '.join(_ASSUMED)}")
    return failed(
        f"{principal} may not assume the bootstrap roles of the CDK: {', '.join(sorted(set(decisions.values())))}",
        "Allow sts:AssumeRole on arn:aws:iam::ACCOUNT:role/cdk-*",
    )


def role_actions(region: Region) -> frozenset[str]:
    """Return the actions that create the main resources of the clusters; a deployment fails without any of them."""
    actions = {
        "batch:CreateComputeEnvironment",
        "batch:CreateJobQueue",
        "batch:RegisterJobDefinition",
        "ec2:AuthorizeSecurityGroupIngress",
        "ec2:CreateLaunchTemplate",
        "ec2:CreateSecurityGroup",
        "iam:AddRoleToInstanceProfile",
        "iam:CreateInstanceProfile",
        "iam:CreateRole",
        "iam:PassRole",
        "iam:PutRolePolicy",
        "logs:CreateLogGroup",
        "s3:CreateBucket",
    }
    if any(cluster.network.subnet_id is None for cluster in region.clusters):
        actions |= {"ec2:CreateSubnet", "ec2:CreateVpc", "ec2:CreateVpcEndpoint"}
    if any(cluster.file_system.is_new for cluster in region.clusters):
        actions |= {"fsx:CreateFileSystem", "iam:CreateServiceLinkedRole"}
    if any(cluster.has_block for cluster in region.clusters):
        actions |= {"dynamodb:CreateTable", "lambda:CreateFunction", "sns:CreateTopic"}
    return frozenset(actions)


# Simulated on the role path of the clusters: a policy may allow these below the path only.
_NAMED: Final = "ultracluster-preflight"  # stands for the names that CloudFormation generates
_ON_ROLES: Final = ("iam:CreateRole", "iam:PassRole", "iam:PutRolePolicy")
_ON_PROFILES: Final = ("iam:AddRoleToInstanceProfile", "iam:CreateInstanceProfile")


def _calls_of_deployment(reader: AwsReader, region: Region) -> tuple[str, dict[str, str] | None]:
    identity_response = identity(reader, region.name)
    role = _bootstrap_role(region, identity_response, "cfn-exec")
    actions = role_actions(region)
    paths = sorted({cluster.role_path or "/" for cluster in region.clusters})
    queries = [(actions, ["*"])]
    if paths != ["/"]:
        queries = [
            (actions.difference(_ON_ROLES, _ON_PROFILES), ["*"]),
            (frozenset(_ON_ROLES), [_iam_arn(identity_response, f"role{path}{_NAMED}") for path in paths]),
            (
                frozenset(_ON_PROFILES),
                [_iam_arn(identity_response, f"instance-profile{path}{_NAMED}") for path in paths],
            ),
        ]
    decisions: dict[str, str] = {}
    for group, resources in queries:
        group_decisions = _decisions(reader, region.name, principal=role, actions=group, resources=resources)
        if group_decisions is None:
            return role, None
        decisions |= group_decisions
    return role, decisions


@_bootstrap_check("UC9410", _calls_of_deployment)
def _check_calls_of_deployment(_: Region, result: tuple[str, dict[str, str] | None]) -> Outcome:
    role, decisions = result
    if decisions is None:
        return failed(f"the role {role} does not exist", "Bootstrap again: `cdk bootstrap`")
    denied = sorted(action for action, decision in decisions.items() if decision != "allowed")
    if denied:
        return failed(
            f"{role.rpartition('/')[2]} may not {', '.join(denied)}",
            "Bootstrap with --cloudformation-execution-policies that allow it; also check its permissions boundary and "
            "the service control policies",
        )
    return passed(f"{role.rpartition('/')[2]} may create all {len(decisions)} main resources")


RECORDS: Final = (
    RuleRecord(
        "UC9481",
        "The submitters are roles of the account.",
        remedy="Name a role of the account of the cluster; people of another one assume it.",
        source="IAM API, AttachRolePolicy and GetRole: a role by its name in the account of the caller, 2026-11.",
    ),
    RuleRecord(
        "UC9406",
        "The service-linked role of AWS Batch exists.",
        remedy="No action is needed if the deploying principal may create it: AWS Batch does so on first use. Otherwise, run the command in the finding.",
        source="AWS Batch user guide, service-linked roles, 2026-10.",
    ),
    RuleRecord(
        "UC9407",
        "The service-linked role of EC2 Spot exists.",
        remedy="Run the command of the finding: without the role no Spot Instance can be requested.",
        source="EC2 user guide, service-linked role for Spot, 2026-10.",
    ),
    RuleRecord(
        "UC9408",
        "The service-linked role of Amazon FSx exists.",
        remedy="No action is needed if the deploying principal may create it: Amazon FSx does so on first use. Otherwise, run the command in the finding.",
        source="FSx for Lustre guide, service-linked roles, 2026-10.",
    ),
    RuleRecord(
        "UC9409",
        "The credentials may assume the roles of the CDK bootstrap.",
        remedy="Allow the user sts:AssumeRole on arn:aws:iam::ACCOUNT:role/cdk-*.",
        source="AWS CDK developer guide, bootstrapping.",
    ),
    RuleRecord(
        "UC9410",
        "CloudFormation's role may create the resources of the clusters.",
        remedy="Bootstrap with --cloudformation-execution-policies that allow the calls in the finding; also check its permissions boundary and the service control policies.",
        source="botocore 1.44.5, IAM SimulatePrincipalPolicy, 2026.",
    ),
)
