"""Permissions that a change adds to policies or takes from them."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Final

from ultracluster_spec.grants import NEVER, is_named, powers
from ultracluster_stacks.plan.expressions import canonical

# Properties with policy documents, by resource type. A list holds several.
_DOCUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "AWS::DynamoDB::Table": ("ResourcePolicy",),
    "AWS::EC2::VPCEndpoint": ("PolicyDocument",),
    "AWS::ECR::Repository": ("RepositoryPolicyText",),
    "AWS::IAM::ManagedPolicy": ("PolicyDocument",),
    "AWS::IAM::Policy": ("PolicyDocument",),
    "AWS::IAM::Role": ("AssumeRolePolicyDocument", "Policies"),
    "AWS::IAM::RolePolicy": ("PolicyDocument",),
    "AWS::KMS::Key": ("KeyPolicy",),
    "AWS::S3::BucketPolicy": ("PolicyDocument",),
    "AWS::SNS::TopicPolicy": ("PolicyDocument",),
    "AWS::SQS::QueuePolicy": ("PolicyDocument",),
}
_LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "AWS::IAM::Role": ("ManagedPolicyArns",),
    "AWS::IAM::ManagedPolicy": ("Roles", "Users", "Groups"),
    "AWS::IAM::Policy": ("Roles", "Users", "Groups"),
    "AWS::EC2::SecurityGroup": ("SecurityGroupIngress", "SecurityGroupEgress"),
}
POLICY_TYPES: Final = frozenset(_DOCUMENTS)
"""Types with policy documents."""

_OPEN: Final = {"Statement": {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}}
"""Policy of an endpoint that has none."""

_TRANSPORT: Final = frozenset({"aws:SecureTransport", "s3:TlsVersion"})
"""Keys of conditions that callers with a current SDK keep."""


def _actions(**names: str) -> frozenset[str]:
    """Return actions by their services."""
    return frozenset(f"{service}:{name}" for service, of in names.items() for name in of.split())


# What a plan knows to be safe: reading and writing data that a policy names, and describing the account.
_ON_NAMED: Final = _actions(
    dynamodb="BatchGetItem ConditionCheckItem GetItem PutItem Query Scan UpdateItem",
    ecr="BatchCheckLayerAvailability BatchGetImage GetDownloadUrlForLayer",
    kms="Decrypt DescribeKey Encrypt GenerateDataKey* ReEncrypt*",
    logs="CreateLogStream PutLogEvents",
    s3="AbortMultipartUpload GetBucketLocation GetObject* GetReplicationConfiguration ListBucket* "
    "ListMultipartUploadParts PutObject PutObjectTagging ReplicateObject ReplicateTags",
    secretsmanager="DescribeSecret",
    sns="Publish",
    sqs="ChangeMessageVisibility DeleteMessage GetQueue* ReceiveMessage SendMessage",
    ssm="GetParameter GetParameters",
)
_ON_ALL: Final = _actions(
    autoscaling="Describe*",
    batch="Describe* List*",
    cloudwatch="Describe* GetMetric* List* PutMetricData",
    ec2="Describe*",
    ec2messages="*",
    ecr="Describe* GetAuthorizationToken",
    ecs="Describe* DiscoverPollEndpoint List*",
    fsx="Describe*",
    logs="Describe*",
    s3="ListAllMyBuckets",
    ssmmessages="*Channel",
    sts="GetCallerIdentity",
    tag="Get*",
    xray="Put*",
)
# What agents of nodes and the life cycle do, on the instances or jobs of the account.
_ON_KINDS: Final = _actions(
    batch="TagResource",
    ec2="GetConsoleOutput",
    ecs="Poll StartTelemetrySession TagResource UpdateContainerInstancesState",
    ssm="UpdateInstanceInformation",
)

_OWN: Final = re.compile(r'"Fn::(?:GetAtt|ImportValue)"|"Ref": "(?!AWS::)')
_REFERENCE: Final = re.compile(r'\{"Ref": "[^"]*"\}|\$\{[^}]*\}')
_OF_THE_ACCOUNT: Final = re.compile(r'"Ref": "AWS::AccountId"|"Fn::GetAtt"')

# Resource types that are a permission as a whole.
_WHOLE: Final = frozenset(
    {"AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress", "AWS::Lambda::Permission"}
)


def is_judged(resource_type: str, name: str) -> bool:
    """Return whether a property of a resource is a permission, which `narrowed` and `risky` judge."""
    judged = (*_DOCUMENTS.get(resource_type, ()), *_LISTS.get(resource_type, ()))
    return name in judged or (name == "PermissionsBoundary" and resource_type.startswith("AWS::IAM::"))


@dataclass(frozen=True, slots=True)
class _Grant:
    effect: str
    action: str
    resource: str
    principal: str
    condition: str

    def covers(self, other: "_Grant") -> bool:
        return (
            self.effect == other.effect
            and _matches(self.action.lower(), other.action.lower())
            and _matches(self.resource, other.resource)
            and self.principal in {other.principal, '"*"'}
            and self.condition in {other.condition, ""}
        )

    @property
    def concerns_transport(self) -> bool:
        """Whether the condition names nothing but the encryption of the connection."""
        operators = json.loads(self.condition or "{}")
        keys = {key for values in operators.values() for key in values}
        return bool(keys) and keys <= _TRANSPORT

    @property
    def is_own(self) -> bool:
        """Whether the resource is a reference to one of the templates, not a literal ARN."""
        return bool(_OWN.search(self.resource))

    @property
    def names(self) -> bool:
        """Whether the resource is a certain one, also behind the functions of its ARN."""
        text = re.sub(r'"Fn::\w+": |[\s{}"\[\],]', "", _REFERENCE.sub("x", self.resource))
        return is_named(text, "") and not self.resource.startswith("all but")

    @property
    def accounts(self) -> frozenset[str | None]:
        """The accounts that the resource and the condition name."""
        return frozenset(re.findall(r"(?<![0-9])[0-9]{12}(?![0-9])", f"{self.resource} {self.condition}"))

    def __str__(self) -> str:
        who = f" for {self.principal}" if self.principal else ""
        when = f" if {self.condition}" if self.condition else ""
        return f"{self.action} on {self.resource}{who}{when}"


def risky(
    resource_type: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    account: str | None = None,
    of_workload: bool = False,
) -> tuple[str, ...]:
    """Describe the added permissions that are not known to be safe, for a job or a node or for another principal."""
    old, new = ([*_grants(resource_type, properties)] for properties in (before, after))
    added = _not_in(old, new, "Allow")
    if resource_type == "AWS::EC2::VPCEndpoint":
        # It lets through what other policies allow; a new one only adds to the ways.
        any_action = [grant for grant in added if old and grant.action.endswith("*")]
        known = {account}.union(*(grant.accounts for grant in old))
        risks = [f"allows {grant}" for grant in any_action if grant.resource == "*" and not grant.condition]
        risks += [f"allows {grant}, of another account" for grant in any_action if grant.accounts - known]
    else:
        judged = ((grant, _risk(grant, old, account, of_workload=of_workload)) for grant in added)
        risks = [f"allows {grant}{why}" for grant, why in judged if why is not None]
    risks += [f"no longer denies {grant}" for grant in _not_in(new, old, "Deny")]
    risks += _lifted_boundary(before, after)
    if before and any(grant.effect == "Allow" for grant in new):
        risks += _new_items(before, after, ("Groups", "Roles", "Users"))
    return (*risks, *_new_items(before, after, ("ManagedPolicyArns",)))


def _not_in(grants: Sequence[_Grant], others: Sequence[_Grant], effect: str) -> list[_Grant]:
    """Return the other grants of an effect that no grant covers."""
    return [one for one in others if one.effect == effect and not any(grant.covers(one) for grant in grants)]


def _lifted_boundary(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    lifted = after and before.get("PermissionsBoundary") and not after.get("PermissionsBoundary")
    return ["PermissionsBoundary no longer limits it"] if lifted else []


def _new_items(
    before: Mapping[str, Any], after: Mapping[str, Any], names: Sequence[str], verb: str = "gets"
) -> list[str]:
    return [
        f"{name} {verb} {item}"
        for name in names
        for item in sorted(
            set.difference(*({_text(item) for item in side.get(name) or []} for side in (after, before)))
        )
    ]


def _risk(grant: _Grant, old: Sequence[_Grant], account: str | None, *, of_workload: bool) -> str | None:
    """Return what to say of an added permission that is a risk; None if it is not."""
    if any(replace(other, condition="") == grant for other in old):
        return ", without the condition that it had"
    if grant.principal:
        return None if _trusts(grant.principal, account) else ""
    if grant.action.startswith("all but"):
        return ""
    granted = [*powers(grant.action)]
    if grant.is_own:  # life cycle, resume and budget act on the queues and groups of their stack
        return f", which {granted[0]}" if granted and of_workload else None
    if granted:
        return f", which {granted[0]}"
    safe = (
        _one_of(grant.action, _ON_ALL)
        or (grant.names and _one_of(grant.action, _ON_NAMED))
        or (grant.resource.startswith("{") and _one_of(grant.action, _ON_KINDS))
    )
    return None if safe else ", which is not known to be safe"


def _one_of(action: str, patterns: Collection[str]) -> bool:
    return any(_matches(pattern.lower(), action.lower()) for pattern in patterns)


def _trusts(principal: str, account: str | None) -> bool:
    """Return whether a principal is a service, or of the account of the stack."""
    own = _OF_THE_ACCOUNT.search(principal) or (
        account is not None and re.search(rf"(?:::| ){account}(?::|\"|$)", principal)
    )
    return principal.startswith("Service ") or bool(principal.startswith("AWS ") and own)


def widened(resource_type: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Describe the permissions that a change adds; empty if permissions only shrink.

    Properties are empty before the resource is added, and after it is removed.
    """
    old, new = ([*_grants(resource_type, properties)] for properties in (before, after))
    additions = [f"allows {grant}" for grant in _not_in(old, new, "Allow")]
    if after:
        additions += [f"no longer denies {grant}" for grant in _not_in(new, old, "Deny")]
    additions += _lifted_boundary(before, after)
    additions += _new_items(before, after, _LISTS.get(resource_type, ()))
    if resource_type in _WHOLE and after and canonical(before) != canonical(after):
        additions.append(f"{resource_type.rsplit('::', 1)[1]}: {_text(after)}")
    return tuple(additions)


def narrowed(
    resource_type: str, before: Mapping[str, Any], after: Mapping[str, Any], *, gone: Collection[str] = ()
) -> tuple[str, ...]:
    """Describe the permissions that a change takes away; empty if permissions only grow.

    No permission is lost on resources that are gone.
    """
    old, new = ([*_grants(resource_type, properties)] for properties in (before, after))
    lost = [
        f"no longer allows {grant}"
        for grant in _not_in(new, old, "Allow")
        if not any(f'"{name}"' in grant.resource for name in gone)
    ]
    denied = [
        f"denies {grant}"
        for grant in _not_in(old, new, "Deny")
        if not grant.concerns_transport
        and grant.action not in NEVER  # what our roles are denied, nothing of ours does
    ]
    items = _new_items(after, before, _LISTS.get(resource_type, ()), "loses")
    old_boundary, boundary = (_text(side.get("PermissionsBoundary")) for side in (before, after))
    bounded = boundary not in {old_boundary, _text(None)}
    return tuple(lost + denied + items + [f"PermissionsBoundary becomes {boundary}"] * bounded)


def _grants(resource_type: str, properties: Mapping[str, Any]) -> Iterator[_Grant]:
    for name in _DOCUMENTS.get(resource_type, ()):
        default = _OPEN if properties and resource_type == "AWS::EC2::VPCEndpoint" else []
        for holder in _listed(properties.get(name) or default):
            document = holder.get("PolicyDocument", holder) if isinstance(holder, dict) else {}
            for statement in _listed(document.get("Statement") or []):
                yield from _of_statement(statement)


def _of_statement(statement: Mapping[str, Any]) -> Iterator[_Grant]:
    condition = _text(statement["Condition"]) if statement.get("Condition") else ""
    principal = statement.get("Principal", statement.get("NotPrincipal", ""))
    prefix = "anyone but " if "NotPrincipal" in statement else ""
    for action in _named(statement, "Action"):
        for resource in _named(statement, "Resource") or ["itself"]:
            for name in _principals(principal):
                yield _Grant(str(statement.get("Effect")), action, resource, prefix + name, condition)


def _named(statement: Mapping[str, Any], name: str) -> list[str]:
    if f"Not{name}" in statement:
        return ["all but " + ", ".join(sorted(_text(item) for item in _listed(statement[f"Not{name}"])))]
    return [_text(item) for item in _listed(statement.get(name) or [])]


def _principals(principal: Any) -> list[str]:
    if not isinstance(principal, dict) or not principal:
        return [f'"{principal}"' if principal else ""]
    return [
        f"{kind} {_text(value)}" for kind, values in sorted(principal.items()) for value in _listed(values)
    ]


def _matches(pattern: str, text: str) -> bool:
    return pattern == text or fnmatchcase(text, pattern.replace("[", "[[]"))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(canonical(value), sort_keys=True)
