"""Judges the roles of templates: by our table, and by what AWS itself says that actions take (as cfn-lint ships it)."""

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from tests.security.roles import ROLES
from tests.security.templates import ACCOUNT, Template, policies_of
from tests.unit.ultracluster.iam_evaluation import allows, as_list

__all__ = ["NARROWER_THAN_NEEDED", "actions_of_aws", "judged", "problems"]

# Reads that could be narrowed, and writes that take a resource in some uses only.
NARROWER_THAN_NEEDED: Mapping[str, str] = {
    "cloudwatch:GetMetricData": "takes a dataset where it reads one; metrics have no ARN",
    "cloudwatch:ListMetrics": "takes a dataset where it lists one; metrics have no ARN",
    "cloudwatch:PutMetricData": "takes a dataset where it writes one; a condition names the namespace",
    "ec2:DescribeCapacityBlockExtensionOfferings": "reads a price; denied by mistake, it would stop the life cycle of a block",
    "servicequotas:GetServiceQuota": "reads a quota",
    "ssm:DescribeDocument": "reads a document of AWS's own, whose ARNs differ",
    "ssm:GetDocument": "reads a document of AWS's own, whose ARNs differ",
}

# What no role may, whatever it is for; with all keys that could let it through.
_DELETES = (
    "s3:DeleteObject",
    "s3:DeleteObjectVersion",
    "s3:DeleteBucket",
    "s3:PutBucketPolicy",
    "s3:PutObjectAcl",
)
_NEVER: Sequence[tuple[str, str]] = (
    *((action, f"arn:aws:iam::{ACCOUNT}:role/Admin") for action in ("iam:PassRole", "sts:AssumeRole")),
    *(
        (f"iam:{name}", f"arn:aws:iam::{ACCOUNT}:role/Admin")
        for name in ("AttachRolePolicy", "CreateRole", "PutRolePolicy", "UpdateAssumeRolePolicy")
    ),
    ("iam:CreateAccessKey", f"arn:aws:iam::{ACCOUNT}:user/admin"),
    *(
        (f"kms:{name}", f"arn:aws:kms:us-east-2:{ACCOUNT}:key/of-somebody-else")
        for name in ("CreateGrant", "DisableKey", "PutKeyPolicy", "ScheduleKeyDeletion")
    ),
    *((action, f"arn:aws:s3:::of-somebody-else{path}") for action in _DELETES for path in ("", "/x")),
    ("ec2:RunInstances", f"arn:aws:ec2:us-east-2:{ACCOUNT}:instance/*"),
    ("ec2:TerminateInstances", f"arn:aws:ec2:us-east-2:{ACCOUNT}:instance/i-0123456789abcdef0"),
    ("ec2:AuthorizeSecurityGroupIngress", f"arn:aws:ec2:us-east-2:{ACCOUNT}:security-group/sg-1"),
    ("fsx:DeleteFileSystem", f"arn:aws:fsx:us-east-2:{ACCOUNT}:file-system/fs-1"),
    ("dynamodb:DeleteTable", f"arn:aws:dynamodb:us-east-2:{ACCOUNT}:table/Ledger"),
    ("logs:DeleteLogGroup", f"arn:aws:logs:us-east-2:{ACCOUNT}:log-group:any:*"),
    ("secretsmanager:GetSecretValue", f"arn:aws:secretsmanager:us-east-2:{ACCOUNT}:secret:any"),
    ("ssm:GetParameter", f"arn:aws:ssm:us-east-2:{ACCOUNT}:parameter/of-somebody-else/password"),
    ("lambda:UpdateFunctionCode", f"arn:aws:lambda:us-east-2:{ACCOUNT}:function:any"),
    ("sagemaker:CreateTrainingPlan", "*"),
    ("ecs:RegisterContainerInstance", f"arn:aws:ecs:eu-west-1:{ACCOUNT}:cluster/production"),
)
_SPENDS = (
    "ec2:PurchaseCapacityBlock",
    "ec2:PurchaseCapacityBlockExtension",
    "ec2:CreateCapacityReservation",
    "ec2:PurchaseReservedInstancesOffering",
    "ec2:PurchaseHostReservation",
)
_RESERVATION = f"arn:aws:ec2:us-east-2:{ACCOUNT}:capacity-reservation/cr-0123456789abcdef0"
_KEYS: Mapping[str, str | int] = {
    "aws:RequestTag/uc:po": "december",
    "aws:ResourceTag/uc:po": "december",
    "aws:SourceAccount": ACCOUNT,
    "ec2:InstanceCount": 1,
    "ec2:InstanceType": "trn2.48xlarge",
    "ec2:Region": "us-east-2",
    "ecs:CreateAction": "RegisterContainerInstance",
    "iam:PassedToService": "sagemaker.amazonaws.com",
}


def judged(templates: Sequence[Template]) -> Iterator[tuple[Template, str, str, list[dict[str, Any]]]]:
    """The roles: template, logical id, description, and statements of identity policies."""
    for template in templates:
        for role_id, role in template.of_type("AWS::IAM::Role"):
            yield template, role_id, role.get("Description", ""), policies_of(template, role_id)


def problems(templates: Sequence[Template]) -> list[str]:
    """Everything that is wrong with any role of some templates."""
    return [
        f"{template.name}/{role_id}: {problem}"
        for template, role_id, description, statements in judged(templates)
        for problem in _problems(template, role_id, description, statements)
    ]


def _problems(
    template: Template, role_id: str, description: str, statements: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    row = ROLES.get(description)
    if row is None:
        yield f"no row in tests/security/roles.py for {description!r}"
        return
    role = template.resolve(template.resources[role_id]["Properties"])
    managed = [arn.partition(":policy/")[2] for arn in role.get("ManagedPolicyArns", ())]
    if managed != ([row.managed] if row.managed else []):
        yield f"has managed policies, which AWS may widen: {managed}"
    trusted = [each["Principal"] for each in role["AssumeRolePolicyDocument"]["Statement"]]
    people = {"AWS": f"arn:aws:iam::{row.assumed_by}:root"}
    if trusted not in ([{"Service": row.assumed_by}], [people]):
        yield f"is assumed by {trusted}"
    for statement in statements:
        if statement["Effect"] == "Allow":
            yield from _beyond(row.may, statement)
            yield from _not_what_actions_take(statement)
    named = {action for each in statements if each["Effect"] == "Allow" for action in as_list(each["Action"])}
    if missing := row.always - named:
        yield f"may not {sorted(missing)}"
    yield from _too_much(description, statements)


def _beyond(may: Mapping[str, str], statement: Mapping[str, Any]) -> Iterator[str]:
    for action in as_list(statement["Action"]):
        for resource in as_list(statement["Resource"]):
            if action not in may or not re.fullmatch(may[action], resource):
                yield f"may {action} on {resource}, which its row does not say"


def _too_much(description: str, statements: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    buys = description.startswith("Buys capacity")
    asked = [*_NEVER, *(() if buys else ((action, _RESERVATION) for action in _SPENDS))]
    for action, resource in asked:
        if allows(statements, action, resource, _KEYS):
            yield f"may {action} on {resource}"


@functools.cache
def actions_of_aws() -> dict[str, Any]:
    """What AWS documents of its actions and resources, by the prefix of the service."""
    read = resources.files("cfnlint.data.AdditionalSpecs").joinpath("Policies.json").read_text()
    return dict(json.loads(read))


def _not_what_actions_take(statement: Mapping[str, Any]) -> Iterator[str]:
    given = as_list(statement["Resource"])
    fitting: set[str] = set()
    for action in as_list(statement["Action"]):
        service, _, name = action.partition(":")
        known = actions_of_aws().get(service, {"Actions": {}})
        if name.lower() not in known["Actions"]:
            yield f"{action} is no action that AWS documents"
            continue
        kinds = known["Actions"][name.lower()].get("Resources", [])
        forms = [form for kind in kinds for form in known["Resources"][kind.lower()]["ARNFormats"]]
        fits = {each for each in given if any(_fits(each, form) for form in forms)}
        if "*" in given:
            if kinds and action not in NARROWER_THAN_NEEDED:
                yield f"{action} takes {kinds}, and is allowed on everything"
        elif not fits:
            yield f"{action} takes {kinds}, not {given}"
        fitting |= fits
    if "*" not in given and (useless := set(given) - fitting):
        yield f"no action of {statement['Action']} takes {sorted(useless)}"


def _fits(resource: str, form: str) -> bool:
    """Whether an ARN, perhaps with stars, can be one of a documented form."""
    got, documented = resource.split(":", 5), form.split(":", 5)
    same_service = len(got) == len(documented) and got[2] == documented[2]
    kind = re.split(r"[/:.]", documented[5])[0]
    return same_service and (got[5].startswith(kind) or got[5].startswith("*") or not kind or kind == "${")
