"""CloudFormation's properties as the requests of the service APIs, judged by the models of botocore."""

import functools
from collections.abc import Mapping
from typing import Any

import botocore.loaders
from botocore.model import MapShape, ServiceModel, Shape, StructureShape
from botocore.validate import ParamValidator

__all__ = ["JUDGED", "problems"]

JUDGED: Mapping[str, tuple[str, str]] = {
    "AWS::EC2::LaunchTemplate": ("ec2", "CreateLaunchTemplateRequest"),
    "AWS::Batch::ComputeEnvironment": ("batch", "CreateComputeEnvironmentRequest"),
    "AWS::Batch::JobDefinition": ("batch", "RegisterJobDefinitionRequest"),
    "AWS::Batch::JobQueue": ("batch", "CreateJobQueueRequest"),
    "AWS::FSx::FileSystem": ("fsx", "CreateFileSystemRequest"),
    "AWS::FSx::DataRepositoryAssociation": ("fsx", "CreateDataRepositoryAssociationRequest"),
}
"""Resource types whose requests are judged: service, and the shape of the request that creates one."""

# What CloudFormation has for itself, and names that it gives by itself.
_NOT_SENT = {
    "AWS::Batch::ComputeEnvironment": {"ReplaceComputeEnvironment", "UpdatePolicy"},
}
_NAMES = {
    "AWS::EC2::LaunchTemplate": {"LaunchTemplateName": "name"},
    "AWS::Batch::ComputeEnvironment": {"ComputeEnvironmentName": "name"},
    "AWS::Batch::JobDefinition": {"JobDefinitionName": "name"},
    "AWS::Batch::JobQueue": {"JobQueueName": "name"},
}


def problems(resource: Mapping[str, Any]) -> list[str]:
    """What the service's model has against a resource of a template.

    Args:
        resource: A resource of a type of `JUDGED`.

    Returns:
        Each problem in words; empty for a request that the model allows.
    """
    kind = resource["Type"]
    shape = _model(JUDGED[kind][0]).shape_for(JUDGED[kind][1])
    not_sent = _NOT_SENT.get(kind, set())
    given = _NAMES.get(kind, {}) | {
        key: value for key, value in resource["Properties"].items() if key not in not_sent
    }
    unknown: list[str] = []
    request = _translated(given, shape, "", unknown)
    report = ParamValidator().validate(request, shape)
    return unknown + ([report.generate_report()] if report.has_errors() else [])


@functools.cache
def _model(service: str) -> ServiceModel:
    return ServiceModel(botocore.loaders.create_loader().load_service_model(service, "service-2"), service)


def _translated(value: Any, shape: Shape, path: str, unknown: list[str]) -> Any:
    if isinstance(value, Mapping) and len(value) == 1 and next(iter(value)).startswith(("Ref", "Fn::")):
        # What is known at deployment only: as long as the longest id, so that limits on lengths are seen.
        return "x" * 20 if shape.type_name == "string" else value
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        members = {name.lower(): name for name in shape.members}
        known = {}
        for key, part in value.items():
            if (name := members.get(key.lower())) is None:
                unknown.append(f"{path}.{key} is no member of {shape.name}")
            else:
                known[name] = _translated(part, shape.members[name], f"{path}.{key}", unknown)
        return known
    if isinstance(shape, MapShape) and isinstance(value, Mapping):
        return {key: _translated(part, shape.value, f"{path}.{key}", unknown) for key, part in value.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [
            _translated(part, shape.member, f"{path}[{index}]", unknown)  # type: ignore[attr-defined]
            for index, part in enumerate(value)
        ]
    return value
