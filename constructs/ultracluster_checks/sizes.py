"""Sizes that AWS refuses: environments of functions, policies of roles, user data and job definitions."""

import json
from collections.abc import Iterator
from typing import Any, Final

from ultracluster_checks.jobs import JOB_DEFINITION
from ultracluster_checks.model.permissions import ROLE, inline_documents
from ultracluster_checks.model.template import Resource, Templates
from ultracluster_checks.model.values import Reference, Text, Unknown
from ultracluster_checks.problem import Wrong, placed, rule
from ultracluster_rules.job_definitions import check_definition_size

# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html (2026-11)
_LARGEST_ENVIRONMENT: Final = 4 * 1024
# Characters without white space: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html (2026-11)
_LARGEST_INLINE: Final = 10_240
_LARGEST_MANAGED: Final = 6_144
# An ARN has at least the partition, a service, the Region, the account and a name that CloudFormation makes of the logical ID.
_SHORTEST_ARN: Final = len("arn:aws:s3:us-east-2:123456789012:x")
_SUFFIX: Final = 13
_ARNS_BY_REF: Final = (
    "AWS::Batch::", "AWS::SNS::Topic", "AWS::SecretsManager::Secret", "AWS::StepFunctions::",
)  # fmt: skip
_PSEUDO: Final = {"AWS::AccountId": "123456789012", "AWS::Partition": "aws", "AWS::Region": "us-east-1"}


def shortest(value: Any, templates: Templates) -> str:
    """Return text of the least length that a value can have once deployed."""
    if isinstance(value, Text):
        return "".join(shortest(part, templates) for part in value.parts)
    if isinstance(value, Reference):
        is_arn = value.attribute.endswith("Arn") or templates.resource(value).type.startswith(_ARNS_BY_REF)
        named = value.logical_id + "x" * _SUFFIX
        return "x" * (_SHORTEST_ARN + min(len(named), 32)) if is_arn else named[:20]
    if isinstance(value, Unknown):
        return _PSEUDO.get(value.name, "")
    return str(value)


def _size(value: Any, templates: Templates) -> int:
    text = json.dumps(value, separators=(",", ":"), default=lambda each: shortest(each, templates))
    return len(text.encode(errors="replace"))


@rule("UC6439", "AWS::Lambda::Function")
def environments_of_functions_fit(function: Resource) -> Iterator[Wrong]:
    """Find functions whose environment variables exceed the limit of Lambda."""
    at, templates = function["Environment"]["Variables"], function.template.templates
    size = sum(len(str(each.path[-1])) + len(shortest(each.value, templates)) for each in at.members)
    if size > _LARGEST_ENVIRONMENT:
        allowed = f"up to {_LARGEST_ENVIRONMENT:,} bytes"
        yield at, f"{size:,} bytes of names and values, at least", allowed, "Keep the list elsewhere"


@rule("UC6456", ROLE, "AWS::IAM::ManagedPolicy")
def policies_of_roles_fit(resource: Resource) -> Iterator[Wrong]:
    """Find roles whose policies exceed the limits of IAM."""
    inline, policy = resource.type == ROLE, resource["PolicyDocument"]
    documents = inline_documents(resource) if inline else [policy]
    size = sum(_size(document.value, resource.template.templates) for document in documents)
    if inline and size > _LARGEST_INLINE:
        got, allowed = f"{size:,} characters of inline policies, at least", f"up to {_LARGEST_INLINE:,}"
        yield resource["Policies"], got, allowed, "Name resources by a prefix"
    elif not inline and size > _LARGEST_MANAGED:
        yield policy, f"{size:,} characters, at least", f"up to {_LARGEST_MANAGED:,}", "Divide it"


@rule("", JOB_DEFINITION)
def definitions_are_small_enough(job: Resource) -> Iterator[Wrong]:
    """Find job definitions above the size limit of AWS Batch."""
    size = _size(job.properties.value, job.template.templates)
    yield from placed(job.properties, check_definition_size(size))
