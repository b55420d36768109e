"""Acknowledgments of cdk-nag findings on our constructs, with reasons."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct, IConstruct, IValidation

from ultracluster.compliance.nag_acknowledgments import ANSWERS, WILDCARDS, Answers, WildcardAnswers

__all__ = ["acknowledge_nag", "answers_in"]


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
    scope.node.add_validation(_Answers(scope))


@jsii.implements(IValidation)
class _Answers:
    """A validation that runs after references between stacks are resolved, which are part of policy findings, and before plug-ins."""

    def __init__(self, scope: Construct) -> None:
        self._scope = scope

    def validate(self) -> list[str]:
        for resource, answer in answers_in(self._scope):
            cdk.Validations.of(resource).acknowledge(answer)
        return []


def answers_in(scope: Construct) -> Iterator[tuple[IConstruct, cdk.Acknowledgment]]:
    """Yield the acknowledgments for the constructs of this package in a scope, each with its resource.

    Args:
        scope: Scope in which all references are resolved.
    """
    for construct in scope.node.find_all():
        for kind, answers in ANSWERS.items():
            if isinstance(construct, kind):
                yield from _plain_answers(construct, answers)
        for kind, wildcards in WILDCARDS.items():
            if isinstance(construct, kind):
                yield from _wildcard_answers(construct, wildcards)


def _plain_answers(construct: Construct, answers: Answers) -> Iterator[tuple[IConstruct, cdk.Acknowledgment]]:
    for path, rules in answers.items():
        for resource in _below(construct, path):
            for rule, reason in rules.items():
                yield resource, _acknowledgment(rule, reason)


def _wildcard_answers(
    construct: Construct, answers: WildcardAnswers
) -> Iterator[tuple[IConstruct, cdk.Acknowledgment]]:
    for path, reasons in answers.items():
        for policy in _below(construct, path):
            for wildcard, reason in _wildcards(policy, reasons):
                yield policy, _acknowledgment(f"AwsSolutions-IAM5[Resource::{wildcard}]", reason)


def _acknowledgment(rule: str, reason: str) -> cdk.Acknowledgment:
    # With the pack as prefix, the report lists the acknowledgment; without it, the finding would vanish without a trace.
    return cdk.Acknowledgment(id=f"{rule.partition('-')[0]}::{rule}", reason=reason)


def _below(construct: IConstruct, path: str) -> list[IConstruct]:
    """Return the resources at a path below a construct; a star matches the ID of any subscription."""
    found = [construct]
    for name in path.split("/"):
        if name == "*":
            found = [child for each in found for child in each.node.children]
        else:
            found = [child for each in found if (child := each.node.try_find_child(name))]
    return [each for each in found if "*" not in path or isinstance(each, sns.CfnSubscription)]


def _wildcards(policy: IConstruct, reasons: Mapping[str | frozenset[str], str]) -> Iterator[tuple[str, str]]:
    """Yield resources with a wildcard of which every statement has a reason, and the reasons."""
    found: dict[str, list[str | None]] = defaultdict(list)
    for statement in _statements(policy):
        for resource in _listed(statement["Resource"]):
            if "*" in (text := _text(resource)):
                found[text].append(_reason(statement, reasons))
    for text, given in found.items():
        if None not in given:
            yield text, " ".join(dict.fromkeys(each for each in given if each))


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
        documents = [each["policyDocument"] for each in stack.resolve(policy.policies) or []]
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
    return str(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
