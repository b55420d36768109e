"""Acknowledgments of cdk-nag findings on our constructs, with reasons."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct, IConstruct, IValidation

from ultracluster.compliance.nag_acknowledgments import (
    ACKNOWLEDGMENTS,
    WILDCARDS,
    Acknowledgments,
    WildcardAcknowledgments,
)
from ultracluster_spec.arguments import validate_arguments


def acknowledge_nag(scope: Construct) -> None:
    """Acknowledge findings of cdk-nag's AwsSolutions and Serverless packs on the constructs of this package in a scope.

    Each acknowledgment is for one rule at one resource and has a reason; the validation report lists it as suppressed. Findings
    on your own resources, and on statements that you add to our roles, are not acknowledged: a wildcard in a policy is
    acknowledged only while every statement with it is one of ours. This package does not depend on cdk-nag.

    Args:
        scope: App or construct. Acknowledgments are added at synthesis, so constructs can be added afterwards.

    Example::

        cdk.Validations.of(app).add_plugins(cdk_nag.AwsSolutionsChecks(app))
        acknowledge_nag(app)
    """
    scope.node.add_validation(_AcknowledgmentValidation(scope))


@jsii.implements(IValidation)
class _AcknowledgmentValidation:
    """A validation that runs after references between stacks are resolved, which are part of policy findings, and before plug-ins."""

    @validate_arguments
    def __init__(self, scope: Construct) -> None:
        self._scope = scope

    def validate(self) -> list[str]:
        for resource, acknowledgment in acknowledgments_in(self._scope):
            cdk.Validations.of(resource).acknowledge(acknowledgment)
        return []


def acknowledgments_in(scope: Construct) -> Iterator[tuple[IConstruct, cdk.Acknowledgment]]:
    """Yield acknowledgments for constructs of this package, each with its resource; references must be resolved."""
    for construct in scope.node.find_all():
        for kind, acknowledgments in ACKNOWLEDGMENTS.items():
            if isinstance(construct, kind):
                yield from _resource_acknowledgments(construct, acknowledgments)
        for kind, wildcards in WILDCARDS.items():
            if isinstance(construct, kind):
                yield from _wildcard_acknowledgments(construct, wildcards)


def _resource_acknowledgments(
    construct: Construct, acknowledgments: Acknowledgments
) -> Iterator[tuple[IConstruct, cdk.Acknowledgment]]:
    for path, rules in acknowledgments.items():
        for resource in _below(construct, path):
            for rule, reason in rules.items():
                yield resource, _acknowledgment(rule, reason)


def _wildcard_acknowledgments(
    construct: Construct, acknowledgments: WildcardAcknowledgments
) -> Iterator[tuple[IConstruct, cdk.Acknowledgment]]:
    for path, reasons in acknowledgments.items():
        for policy in _below(construct, path):
            for wildcard, reason in _wildcards(policy, reasons):
                yield policy, _acknowledgment(f"AwsSolutions-IAM5[Resource::{wildcard}]", reason)


def _acknowledgment(rule: str, reason: str) -> cdk.Acknowledgment:
    # With the pack as prefix, the report lists the acknowledgment; without it, the finding would vanish without a trace.
    return cdk.Acknowledgment(id=f"{rule.partition('-')[0]}::{rule}", reason=reason)


def _below(construct: IConstruct, path: str) -> list[IConstruct]:
    """Return the resources at a path below a construct; a star matches the ID of any subscription."""
    constructs = [construct]
    for name in path.split("/"):
        if name == "*":
            constructs = [child for construct in constructs for child in construct.node.children]
        else:
            constructs = [child for construct in constructs if (child := construct.node.try_find_child(name))]
    return [
        construct for construct in constructs if "*" not in path or isinstance(construct, sns.CfnSubscription)
    ]


def _wildcards(policy: IConstruct, reasons: Mapping[str | frozenset[str], str]) -> Iterator[tuple[str, str]]:
    """Yield resources with a wildcard of which every statement has a reason, and the reasons."""
    reasons_by_resource: dict[str, list[str | None]] = defaultdict(list)
    for statement in _statements(policy):
        for resource in _listed(statement["Resource"]):
            if "*" in (text := _text(resource)):
                reasons_by_resource[text].append(_reason(statement, reasons))
    for text, resource_reasons in reasons_by_resource.items():
        if None not in resource_reasons:
            yield text, " ".join(dict.fromkeys(reason for reason in resource_reasons if reason))


def _reason(statement: Mapping[str, Any], reasons: Mapping[str | frozenset[str], str]) -> str | None:
    if "Sid" in statement:
        return reasons.get(statement["Sid"])
    named = frozenset(_listed(statement["Action"]))
    return next(
        (reason for key, reason in reasons.items() if isinstance(key, frozenset) and named <= key), None
    )


def _statements(policy: IConstruct) -> Iterator[Mapping[str, Any]]:
    stack = cdk.Stack.of(policy)
    if isinstance(policy, iam.CfnPolicy):
        documents = [stack.resolve(policy.policy_document)]
    elif isinstance(policy, iam.CfnRole):
        documents = [
            inline_policy["policyDocument"] for inline_policy in stack.resolve(policy.policies) or []
        ]
    else:
        documents = []
    for document in documents:
        for statement in document["Statement"]:
            if statement["Effect"] == "Allow":
                yield statement


def _text(value: Any) -> str:
    """Return a value with references as cdk-nag writes it in the IDs of its findings."""
    match value:
        case str():
            return value.replace("${", "<").replace("}", ">")
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(_text, parts))
        case {"Fn::GetAtt": [resource, attribute]}:
            return f"<{resource}.{attribute}>"
        case {"Fn::Sub": inner} | {"Fn::ImportValue": inner}:
            return _text(inner)
        case {"Ref": name}:
            return f"<{name}>"
    return json.dumps(value, separators=(",", ":"))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
