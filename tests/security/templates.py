"""Templates of an assembly, with the references in them resolved as an account of ours would see them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["ACCOUNT", "REGION", "Template", "policies_of", "templates_of"]

ACCOUNT = "123456789012"
REGION = "us-east-2"

_PSEUDO = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::URLSuffix": "amazonaws.com",
}
_PLACE = f"{REGION}:{ACCOUNT}"
# ARNs as the Service Authorization Reference writes them, with the logical id for a name that is not known before.
_ARNS = {
    # The attribute of our custom resource is its only one.
    "Custom::UltraClusterEcsCluster": f"arn:aws:ecs:{_PLACE}:cluster/AWSBatch-%s-0",
    "AWS::Batch::ComputeEnvironment": f"arn:aws:batch:{_PLACE}:compute-environment/%s",
    "AWS::Batch::JobQueue": f"arn:aws:batch:{_PLACE}:job-queue/%s",
    "AWS::DynamoDB::Table": f"arn:aws:dynamodb:{_PLACE}:table/%s",
    "AWS::ECR::Repository": f"arn:aws:ecr:{_PLACE}:repository/%s",
    "AWS::IAM::Role": f"arn:aws:iam::{ACCOUNT}:role/%s",
    "AWS::KMS::Key": f"arn:aws:kms:{_PLACE}:key/%s",
    "AWS::Logs::LogGroup": f"arn:aws:logs:{_PLACE}:log-group:%s:*",
    "AWS::S3::Bucket": "arn:aws:s3:::%s",
    "AWS::SNS::Topic": f"arn:aws:sns:{_PLACE}:%s",
    "AWS::Batch::JobDefinition": f"arn:aws:batch:{_PLACE}:job-definition/%s:1",
}
_REF_IS_ARN = {"AWS::Batch::JobDefinition", "AWS::SNS::Topic"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """A template.

    Attributes:
        name: Of its stack.
        resources: Its resources by logical id, as they stand.
        everything: All templates of the assembly, to follow what one takes from another.
    """

    name: str
    resources: Mapping[str, Any]
    outputs: Mapping[str, Any]
    everything: "Mapping[str, Template]"

    def of_type(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The resources of a type, by logical id, with their references resolved."""
        for key, resource in self.resources.items():
            if resource["Type"] == kind:
                yield key, self.resolve(resource["Properties"])

    def resolve(self, value: Any) -> Any:
        """A value with its references resolved: names are logical ids, in lower case for buckets."""
        if isinstance(value, list):
            return [self.resolve(each) for each in value]
        match value:
            case {"Ref": name}:
                resolved = self._ref(name)
            case {"Fn::GetAtt": [name, str()]}:
                resolved = self._arn(name)
            case {"Fn::Join": [separator, parts]}:
                resolved = separator.join(self.resolve(part) for part in parts)
            case {"Fn::Select": [index, {"Fn::Split": [separator, whole]}]}:
                resolved = self.resolve(whole).split(separator)[int(index)]
            case {"Fn::ImportValue": export}:
                resolved = self._imported(export)
            case dict():
                resolved = {key: self.resolve(each) for key, each in value.items()}
            case _:
                resolved = value
        return resolved

    def _ref(self, name: str) -> str:
        if name in _PSEUDO:
            return _PSEUDO[name]
        if name in self.resources and self.resources[name]["Type"] in _REF_IS_ARN:
            return self._arn(name)
        return name

    def _arn(self, name: str) -> str:
        kind = self.resources[name]["Type"]
        form = _ARNS.get(kind, f"arn:aws:{kind.replace('::', '-').lower()}:::%s")
        return form % (name.lower() if kind == "AWS::S3::Bucket" else name)

    def _imported(self, export: str) -> Any:
        for other in self.everything.values():
            for output in other.outputs.values():
                if output.get("Export", {}).get("Name") == export:
                    return other.resolve(output["Value"])
        raise LookupError(export)


def templates_of(assembly: Path) -> list[Template]:
    """Read the templates of an assembly.

    Args:
        assembly: Its directory.
    """
    found: dict[str, Template] = {}
    for file in sorted(assembly.rglob("*.template.json")):
        read = json.loads(file.read_text())
        found[file.name] = Template(
            name=file.name.removesuffix(".template.json"),
            resources=read["Resources"],
            outputs=read.get("Outputs", {}),
            everything=found,
        )
    assert found
    return list(found.values())


def policies_of(template: Template, role_id: str) -> list[dict[str, Any]]:
    """The statements of all policies of a template that a role has.

    Args:
        template: The template of the role.
        role_id: Its logical id.
    """
    role = template.resources[role_id]["Properties"]
    documents = [each["PolicyDocument"] for each in role.get("Policies", ())]
    for kind in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
        attached = (
            each["Properties"]
            for each in template.resources.values()
            if each["Type"] == kind and {"Ref": role_id} in each["Properties"].get("Roles", ())
        )
        documents += [each["PolicyDocument"] for each in attached]
    return [statement for each in documents for statement in template.resolve(each["Statement"])]
