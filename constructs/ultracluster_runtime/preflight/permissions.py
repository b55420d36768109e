"""Checks of IAM: service-linked roles, and what the roles of the CDK's bootstrap may do."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from ultracluster_runtime.preflight.account import identity
from ultracluster_runtime.preflight.check import (
    ACCOUNT_IS_KNOWN,
    BOOTSTRAPPED,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    warned,
)
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import RegionNeeds, RolloutNeeds

__all__ = ["PERMISSION_CHECKS", "role_actions"]

_NO_SUCH: Final = ("NoSuchEntity",)
_ROLE_READ: Final = "iam:GetRole"
_SIMULATE: Final = "iam:SimulatePrincipalPolicy"


def _of_account(rollout: RolloutNeeds) -> Iterable[RolloutNeeds]:
    return (rollout,)


def _with_spot(rollout: RolloutNeeds) -> Iterator[RolloutNeeds]:
    if any(source.market_type == "spot" for cluster in rollout.clusters for source in cluster.sources):
        yield rollout


def _with_new_storage(rollout: RolloutNeeds) -> Iterator[RolloutNeeds]:
    if any(cluster.file_system is None for cluster in rollout.clusters):
        yield rollout


def _role_exists(role: str) -> Callable[[Reads, RolloutNeeds], bool]:
    def gather(reads: Reads, needs: RolloutNeeds) -> bool:
        return reads.find("iam", needs.home, "GetRole", absent=_NO_SUCH, RoleName=role) is not None

    return gather


def _judge_role(role: str, service: str, *, made_by: str) -> Callable[[RolloutNeeds, bool], Outcome]:
    command = f"`aws iam create-service-linked-role --aws-service-name {service}`"

    def judge(_: RolloutNeeds, exists: bool) -> Outcome:
        if exists:
            return passed(f"{role} is there")
        if made_by:
            return warned(
                f"{role} is not there yet; {made_by} makes it at its first use, if who deploys may",
                f"Or make it: {command}",
            )
        return failed(
            f"{role} is not there, so that no Spot Instance can be requested", f"Make it: {command}"
        )

    return judge


def _service_role(code: str, role: str, service: str, subjects: Any, *, made_by: str = "") -> AnyCheck:
    return Check(
        code=code,
        calls=(_ROLE_READ,),
        subjects=subjects,
        gather=_role_exists(role),
        judge=_judge_role(role, service, made_by=made_by),
        after=ACCOUNT_IS_KNOWN,
    )


# Simulations


def _decisions(
    reads: Reads, region: str, *, principal: str, actions: Iterable[str], resources: Iterable[str]
) -> dict[str, str] | None:
    """What IAM says to each action on all of the resources; None if it does not know the principal."""
    results = reads.find(
        "iam",
        region,
        "SimulatePrincipalPolicy",
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


def _bootstrap_role(needs: RegionNeeds, who: Mapping[str, Any], purpose: str) -> str:
    return _role_arn(who, f"cdk-{needs.qualifier}-{purpose}-role-{who['Account']}-{needs.region}")


_ASSUMED: Final = ("deploy", "file-publishing", "lookup")


def _assumes(reads: Reads, needs: RegionNeeds) -> tuple[str, dict[str, str] | None]:
    who = identity(reads, needs.region)
    arn = str(who["Arn"])
    if re.fullmatch(r"arn:[a-z-]+:iam::[0-9]{12}:root", arn):
        return arn, {"sts:AssumeRole": "allowed"}
    session = re.fullmatch(r"arn:[a-z-]+:sts::[0-9]{12}:assumed-role/([^/]+)/.*", arn)
    if session:  # the session's ARN leaves out the path of its role
        role = reads.find("iam", needs.region, "GetRole", absent=_NO_SUCH, RoleName=session[1])
        arn = role["Role"]["Arn"] if role else _role_arn(who, session[1])
    return arn, _decisions(
        reads,
        needs.region,
        principal=arn,
        actions=["sts:AssumeRole"],
        resources=[_bootstrap_role(needs, who, purpose) for purpose in _ASSUMED],
    )


def _judge_assumes(_: RegionNeeds, seen: tuple[str, dict[str, str] | None]) -> Outcome:
    """Whether the credentials lead to the roles that deploy; the roles' own trust is not simulated."""
    who, decisions = seen
    if decisions is None:
        return warned(
            f"IAM cannot simulate {who}",
            "See that it may assume the cdk-* roles: `cdk deploy` tells at its first call",
        )
    if all(decision == "allowed" for decision in decisions.values()):
        return passed(f"{who} may assume the roles for {', '.join(_ASSUMED)}")
    return failed(
        f"{who} may not assume the roles of the CDK's bootstrap: {', '.join(sorted(set(decisions.values())))}",
        "Allow it sts:AssumeRole on arn:aws:iam::ACCOUNT:role/cdk-*",
    )


def role_actions(needs: RegionNeeds) -> frozenset[str]:
    """Give the calls that make the main resources of the clusters: without one of them a deployment fails.

    Args:
        needs: The clusters.
    """
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
    if any(cluster.new_vpc for cluster in needs.clusters):
        actions |= {"ec2:CreateSubnet", "ec2:CreateVpc", "ec2:CreateVpcEndpoint"}
    if any(cluster.file_system is None for cluster in needs.clusters):
        actions |= {"fsx:CreateFileSystem", "iam:CreateServiceLinkedRole"}
    if any(source.market_type == "capacity-block" for source in needs.sources):
        actions |= {"lambda:CreateFunction", "sns:CreateTopic"}
    return frozenset(actions)


# What is asked about where the roles of clusters go: a policy may allow it below their path only.
_NAMED: Final = "ultracluster-preflight"  # a name of ours that stands for those that CloudFormation chooses
_ON_ROLES: Final = ("iam:CreateRole", "iam:PassRole", "iam:PutRolePolicy")
_ON_PROFILES: Final = ("iam:AddRoleToInstanceProfile", "iam:CreateInstanceProfile")


def _makes(reads: Reads, needs: RegionNeeds) -> tuple[str, dict[str, str] | None]:
    who = identity(reads, needs.region)
    role = _bootstrap_role(needs, who, "cfn-exec")
    actions = role_actions(needs)
    below = sorted({cluster.role_path for cluster in needs.clusters})
    asked = [(actions, ["*"])]
    if below != ["/"]:
        asked = [
            (actions.difference(_ON_ROLES, _ON_PROFILES), ["*"]),
            (frozenset(_ON_ROLES), [_iam_arn(who, f"role{path}{_NAMED}") for path in below]),
            (frozenset(_ON_PROFILES), [_iam_arn(who, f"instance-profile{path}{_NAMED}") for path in below]),
        ]
    decisions: dict[str, str] = {}
    for some, resources in asked:
        decided = _decisions(reads, needs.region, principal=role, actions=some, resources=resources)
        if decided is None:
            return role, None
        decisions |= decided
    return role, decisions


def _judge_makes(_: RegionNeeds, seen: tuple[str, dict[str, str] | None]) -> Outcome:
    """Whether CloudFormation may make what clusters are made of."""
    role, decisions = seen
    if decisions is None:
        return failed(f"there is no role {role}", "Bootstrap again: `cdk bootstrap`")
    denied = sorted(action for action, decision in decisions.items() if decision != "allowed")
    if denied:
        return failed(
            f"{role.rpartition('/')[2]} may not {', '.join(denied)}",
            "Bootstrap with --cloudformation-execution-policies that allow it; see also its permissions boundary and "
            "the service control policies",
        )
    return passed(f"{role.rpartition('/')[2]} may make {len(decisions)} of {len(decisions)} main resources")


PERMISSION_CHECKS: Final[tuple[AnyCheck, ...]] = (
    _service_role(
        "UC9406", "AWSServiceRoleForBatch", "batch.amazonaws.com", _of_account, made_by="AWS Batch"
    ),
    _service_role("UC9407", "AWSServiceRoleForEC2Spot", "spot.amazonaws.com", _with_spot),
    _service_role(
        "UC9408", "AWSServiceRoleForAmazonFSx", "fsx.amazonaws.com", _with_new_storage, made_by="Amazon FSx"
    ),
    Check(
        code="UC9409",
        calls=("sts:GetCallerIdentity", _ROLE_READ, _SIMULATE),
        subjects=RolloutNeeds.regions,
        gather=_assumes,
        judge=_judge_assumes,
        after=(BOOTSTRAPPED,),
    ),
    Check(
        code="UC9410",
        calls=("sts:GetCallerIdentity", _SIMULATE),
        subjects=RolloutNeeds.regions,
        gather=_makes,
        judge=_judge_makes,
        after=(BOOTSTRAPPED,),
    ),
)
