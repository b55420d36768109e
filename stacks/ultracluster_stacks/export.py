"""Templates for teams that deploy without the CDK: with parameters, without a bootstrap, and as StackSets."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ultracluster_catalog.names.identifiers import RESERVATION_ID, ZONE_ID
from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.record import RuleRecord

BUCKET_PARAMETER: Final = "AssetBucket"
"""Name of the parameter for the bucket with the code of Lambda functions."""

_KINDS: Final[dict[str, dict[str, str]]] = {
    "ImageId": {"Type": "AWS::EC2::Image::Id", "Description": "AMI of the nodes, in this Region."},
    "ZoneId": {
        "Type": "String",
        "AllowedPattern": ZONE_ID,
        "Description": "Zone id of the capacity, such as use2-az3. Never a zone name.",
    },
    "ReservationId": {
        "Type": "String",
        "AllowedPattern": RESERVATION_ID,
        "Description": "Capacity Reservation that the nodes run in.",
    },
    BUCKET_PARAMETER: {
        "Type": "String",
        "Description": "Bucket in this Region with the files of the folder assets.",
    },
}
_BOOTSTRAP_BUCKET: Final = re.compile(r"cdk-[a-z0-9]+-assets-")
_PARTITION: Final = "${AWS::Partition}"
_NAME: Final = re.compile(r"[A-Za-z]+")


def exported_template(
    template: Mapping[str, Any], *, values: Mapping[str, str], region: str, bucket: str | None
) -> dict[str, Any]:
    """Return a template that can be deployed without the CDK and in any Region.

    Values become defaults of parameters: ``ImageId``, ``ZoneId`` or ``ReservationId``, optionally followed by a number.
    References to the Region, and to its partition in ARNs, become those of the deployment.

    Raises:
        FindingsError: A value is part of a key, which CloudFormation cannot compute (UC9610), or the template
            needs the bootstrap for something other than the code of functions (UC9612).
    """
    replacements = {value: f"${{{name}}}" for value, name in values.items()} | {region: "${AWS::Region}"}
    resources = {
        name: _without_cdk(resource)
        for name, resource in template["Resources"].items()
        if resource["Type"] != "AWS::CDK::Metadata"
    }
    body = {key: template[key] for key in ("Description", "Conditions", "Mappings") if key in template}
    body = _with_parameters(
        body | {"Resources": resources, "Outputs": template.get("Outputs", {})}, replacements
    )
    text = json.dumps(body)
    if _BOOTSTRAP_BUCKET.search(text) or "container-assets" in text:
        problem = "the template needs the CDK bootstrap for more than the code of a function"
        raise FindingsError.of("UC9612", problem, remedy="Deploy it with the CDK")
    defaults = {name: value for value, name in values.items()} | {BUCKET_PARAMETER: bucket}
    parameters = {
        name: _parameter(name, default)
        for name, default in defaults.items()
        if f'"Ref": "{name}"' in text or f"${{{name}}}" in text
    }
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        **({"Parameters": parameters} if parameters else {}),
        **{key: value for key, value in body.items() if value},
    }


def text_of(template: Mapping[str, Any]) -> str:
    """Return a template as compact JSON: CloudFormation accepts up to 51,200 bytes directly, more from a bucket."""
    return json.dumps(template, separators=(",", ":"))


def _parameter(name: str, default: str | None) -> dict[str, str]:
    match = _NAME.match(name)
    kind = _KINDS[match[0]] if match else {}
    return kind | ({"Default": default} if default else {})


def _without_cdk(resource: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resource without CDK metadata, with its code in the asset bucket."""
    metadata = {
        key: value
        for key, value in (resource.get("Metadata") or {}).items()
        if not key.startswith(("aws:cdk", "aws:asset"))
    }
    plain = {key: value for key, value in resource.items() if key != "Metadata"}
    if metadata:
        plain["Metadata"] = metadata
    code = (plain.get("Properties") or {}).get("Code")
    if isinstance(code, Mapping) and _BOOTSTRAP_BUCKET.search(json.dumps(code.get("S3Bucket"))):
        own_code = {**code, "S3Bucket": {"Ref": BUCKET_PARAMETER}}
        plain["Properties"] = {**plain["Properties"], "Code": own_code}
    return plain


def _with_parameters(value: Any, replacements: Mapping[str, str]) -> Any:
    match value:
        case str():
            filled = _filled(value, replacements)
            return value if filled == value else _expression(value, replacements)
        case {"Fn::Sub": str(text)}:
            return {"Fn::Sub": _filled(text, replacements)}
        case {"Fn::Sub": [str(text), variables]}:
            return {"Fn::Sub": [_filled(text, replacements), _with_parameters(variables, replacements)]}
        case Mapping():
            for key in value:
                if _filled(key, replacements) != key:
                    problem = f"the key {quote(key)} contains a value that must become a parameter"
                    raise FindingsError.of("UC9610", problem, remedy="Choose another name or tag")
            return {key: _with_parameters(part, replacements) for key, part in value.items()}
        case list():
            return [_with_parameters(part, replacements) for part in value]
        case _:
            return value


def _pattern(replacements: Mapping[str, str]) -> re.Pattern[str]:
    # us-east-1 must not match in us-east-10, and a partition only in an ARN.
    values = (f"{re.escape(value)}(?![0-9a-f])" for value in sorted(replacements, key=len, reverse=True))
    return re.compile("|".join([*values, r"(?<=\barn:)aws[a-z-]*(?=:)"]))


def _filled(text: str, replacements: Mapping[str, str]) -> str:
    return _pattern(replacements).sub(lambda match: replacements.get(match[0], _PARTITION), text)


def _expression(text: str, replacements: Mapping[str, str]) -> Any:
    """Return a Ref, or an Fn::Join of text and Refs; Fn::Sub would replace the ``${...}`` of scripts."""
    parts = list(_parts_of_text(text, replacements))
    return parts[0] if len(parts) == 1 else {"Fn::Join": ["", parts]}


def _parts_of_text(text: str, replacements: Mapping[str, str]) -> Iterator[Any]:
    end = 0
    for match in _pattern(replacements).finditer(text):
        if match.start() > end:
            yield text[end : match.start()]
        yield {"Ref": replacements.get(match[0], _PARTITION).removeprefix("${").removesuffix("}")}
        end = match.end()
    if end < len(text):
        yield text[end:]


def stack_set_template(
    cluster: str, templates: Sequence[tuple[str, Mapping[str, Any]]], *, region: str
) -> dict[str, Any]:
    """Return a template with one StackSet per template of a cluster, in order of deployment.

    Deploy it in the management account or, with the default of ``CallAs``, as a delegated administrator.
    """
    stack_set_parameters = {
        "TemplateBaseUrl": {
            "Type": "String",
            "AllowedPattern": "https://[^?]*[^/?]",
            "Description": "Address of the folder with the templates in a bucket, without a slash at its end.",
        },
        "OrganizationalUnitIds": {
            "Type": "CommaDelimitedList",
            "Description": "Organizational units whose accounts get the cluster.",
        },
        "Regions": {
            "Type": "CommaDelimitedList",
            "Default": region,
            "Description": "Regions, one after the other. Parameters hold for all of them: a reservation exists in one only.",
        },
        "CallAs": {
            "Type": "String",
            "Default": "DELEGATED_ADMIN",
            "AllowedValues": ["DELEGATED_ADMIN", "SELF"],
            "Description": "SELF in the management account.",
        },
    }
    cluster_parameters = {
        name: parameter
        for _, template in templates
        for name, parameter in (template.get("Parameters") or {}).items()
    }
    # AWS::EC2::Image::Id would be validated in this account and Region, not in the target.
    cluster_parameters = {
        name: {**parameter, "Type": "String"} if parameter["Type"] == "AWS::EC2::Image::Id" else parameter
        for name, parameter in cluster_parameters.items()
    }
    resources: dict[str, Any] = {}
    for part, template in templates:
        before = list(resources)[-1:]
        resources[part] = _stack_set(f"{cluster}-{part}", part, template, after=before)
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The cluster {cluster} as service-managed StackSets",
        "Parameters": stack_set_parameters | cluster_parameters,
        "Resources": resources,
    }


def _stack_set(name: str, part: str, template: Mapping[str, Any], *, after: Sequence[str]) -> dict[str, Any]:
    parameters = [
        {"ParameterKey": key, "ParameterValue": {"Ref": key}} for key in template.get("Parameters") or {}
    ]
    return {
        "Type": "AWS::CloudFormation::StackSet",
        **({"DependsOn": list(after)} if after else {}),
        "Properties": {
            "StackSetName": name,
            "PermissionModel": "SERVICE_MANAGED",
            "CallAs": {"Ref": "CallAs"},
            # An account that joins the unit has no reservation for the nodes.
            "AutoDeployment": {"Enabled": False},
            "Capabilities": ["CAPABILITY_NAMED_IAM"],
            "ManagedExecution": {"Active": True},
            "OperationPreferences": {
                "FailureToleranceCount": 0,
                "MaxConcurrentCount": 1,
                "RegionConcurrencyType": "SEQUENTIAL",
            },
            "TemplateURL": {"Fn::Sub": f"${{TemplateBaseUrl}}/{part.lower()}.template.json"},
            **({"Parameters": parameters} if parameters else {}),
            "StackInstancesGroup": [
                {
                    "DeploymentTargets": {"OrganizationalUnitIds": {"Ref": "OrganizationalUnitIds"}},
                    "Regions": {"Ref": "Regions"},
                }
            ],
        },
    }


RECORDS: Final = (
    RuleRecord(
        "UC9610",
        "Values that become parameters of an exported template are not part of keys.",
        remedy="Choose another name or tag: CloudFormation takes parameters in values only.",
        source="AWS CloudFormation user guide, Ref.",
    ),
    RuleRecord(
        "UC9612",
        "An exported template does not need the CDK bootstrap.",
        remedy="Deploy it with the CDK.",
        source="AWS CDK developer guide, bootstrapping.",
    ),
)
