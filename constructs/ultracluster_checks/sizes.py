"""Size of job definitions, and the least text that a value can have once deployed."""

import json
from collections.abc import Iterator
from typing import Any, Final

from ultracluster_checks.jobs import JOB_DEFINITION
from ultracluster_checks.model.template import Resource, Templates
from ultracluster_checks.model.values import Reference, Text, Unknown
from ultracluster_checks.problem import Wrong, placed, rule
from ultracluster_spec.job_definitions import check_definition_size

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


@rule("", JOB_DEFINITION)
def definitions_are_small_enough(job: Resource) -> Iterator[Wrong]:
    """Find job definitions above the size limit of AWS Batch."""
    size = _size(job.properties.value, job.template.templates)
    yield from placed(job.properties, check_definition_size(size))
