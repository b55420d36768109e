"""Parameter values of a template: submitted, previous, default, or read from SSM."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.instance.clients import Clients

__all__ = ["given_parameters", "secret_value", "ssm_parameter", "typed_parameters"]


def given_parameters(
    template: Mapping[str, Any], sent: list[Mapping[str, Any]], *, previous: Mapping[str, str]
) -> dict[str, str]:
    """Return the submitted, previous or default value of each parameter as a string.

    Raises:
        ValidationError: If a value is missing, not allowed, or of an unknown parameter.
    """
    declared: Mapping[str, Any] = template.get("Parameters") or {}
    unknown = sorted(one["ParameterKey"] for one in sent if one["ParameterKey"] not in declared)
    if unknown:
        raise ValidationError(f"Parameters: [{', '.join(unknown)}] do not exist in the template")
    values = {name: _text(one["Default"]) for name, one in declared.items() if "Default" in one}
    for one in sent:
        key = one["ParameterKey"]
        if one.get("UsePreviousValue") and one.get("ParameterValue"):  # getmoto/moto, verified against AWS
            raise ValidationError(
                f"Invalid input for parameter key {one['ParameterKey']}. Cannot specify usePreviousValue as true and non empty "
                "value for a parameter"
            )
        if one.get("UsePreviousValue"):
            if key in previous:
                values[key] = previous[key]
        else:
            values[key] = one.get("ParameterValue", "")
    missing = sorted(set(declared) - set(values))
    if missing:
        raise ValidationError(f"Parameters: [{', '.join(missing)}] must have values")
    for key, value in values.items():
        fault = _fault(declared[key], value)
        if fault:
            described = declared[key].get("ConstraintDescription")
            if described:  # awslabs/aws-config-engine-for-compliance-as-code#12
                raise ValidationError(f"Parameter {key} failed to satisfy constraint: {described}")
            raise ValidationError(f"Parameter '{key}' {fault}")
    return values


def _fault(declared: Mapping[str, Any], value: str) -> str:
    """Return CloudFormation's message about the constraint of a parameter that a value violates; empty if none."""
    return next(_faults(declared, value), "")


def _faults(declared: Mapping[str, Any], value: str) -> Iterator[str]:
    allowed = declared.get("AllowedValues")
    if allowed and value not in [_text(one) for one in allowed]:
        yield "must be one of AllowedValues"
    if declared.get("AllowedPattern") and not re.fullmatch(declared["AllowedPattern"], value):
        yield f"must match pattern {declared['AllowedPattern']}"
    if len(value) < int(declared.get("MinLength", 0)):
        yield f"must contain at least {declared['MinLength']} characters"
    if len(value) > int(declared.get("MaxLength", len(value))):
        yield f"must contain at most {declared['MaxLength']} characters"
    if declared.get("Type") == "Number":
        yield from _faults_of_number(declared, value)


def _faults_of_number(declared: Mapping[str, Any], value: str) -> Iterator[str]:
    try:
        number = float(value)
    except ValueError:
        yield "must be a number."
        return
    if number < float(declared.get("MinValue", number)):
        yield f"must be a number not less than {declared['MinValue']}"
    if number > float(declared.get("MaxValue", number)):
        yield f"must be a number not greater than {declared['MaxValue']}"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def typed_parameters(
    template: Mapping[str, Any], values: Mapping[str, str], *, clients: Clients, region: str
) -> dict[str, Any]:
    """Convert strings to the values of ``Ref``: numbers, lists, values from SSM.

    Raises:
        ValidationError: If a value is not a number, or SSM has no such parameter.
    """
    return {
        name: _typed(name, one.get("Type", "String"), values[name], clients=clients, region=region)
        for name, one in (template.get("Parameters") or {}).items()
    }


def _typed(name: str, kind: str, text: str, *, clients: Clients, region: str) -> Any:
    if kind.startswith("AWS::SSM::Parameter::Value<"):
        text = ssm_parameter(text, clients=clients, region=region)
        kind = kind.removeprefix("AWS::SSM::Parameter::Value<").removesuffix(">")
    if kind == "Number":
        try:
            return int(text) if text.lstrip("-").isdigit() else float(text)
        except ValueError:
            raise ValidationError(f"Parameter '{name}' must be a number.") from None
    several = kind == "CommaDelimitedList" or kind.startswith("List<")
    values = [part.strip() for part in text.split(",")] if several else [text]
    _refuse_missing(
        name, kind.removeprefix("List<").removesuffix(">"), values, clients=clients, region=region
    )
    return values if several else text


_DESCRIBED_BY = {
    "AWS::EC2::AvailabilityZone::Name": ("availability_zones", "zone-name", "AvailabilityZones", "ZoneName"),
    "AWS::EC2::VPC::Id": ("vpcs", "vpc-id", "Vpcs", "VpcId"),
    "AWS::EC2::Subnet::Id": ("subnets", "subnet-id", "Subnets", "SubnetId"),
    "AWS::EC2::SecurityGroup::Id": ("security_groups", "group-id", "SecurityGroups", "GroupId"),
    "AWS::EC2::KeyPair::KeyName": ("key_pairs", "key-name", "KeyPairs", "KeyName"),
}


def _refuse_missing(name: str, kind: str, values: list[str], *, clients: Clients, region: str) -> None:
    """Refuse values of AWS's types that do not exist in the account, as CloudFormation does."""
    if kind not in _DESCRIBED_BY:
        return
    things, condition, member, key = _DESCRIBED_BY[kind]
    describe = getattr(clients.get("ec2", region), f"describe_{things}")
    found = {each[key] for each in describe(Filters=[{"Name": condition, "Values": values}])[member]}
    missing = [
        f"parameter value {value} for parameter name {name} does not exist"
        for value in values
        if value not in found
    ]
    if missing:
        raise ValidationError(f"Parameter validation failed: {', '.join(missing)}.")


def ssm_parameter(name: str, *, clients: Clients, region: str) -> str:
    """Return the value of an SSM parameter.

    Raises:
        ValidationError: If there is no such parameter.
    """
    try:
        value: str = clients.get("ssm", region).get_parameter(Name=name)["Parameter"]["Value"]
    except ClientError:
        raise ValidationError(
            f"Unable to fetch parameters [{name}] from parameter store for this account."
        ) from None
    return value


def secret_value(reference: str, *, clients: Clients, region: str) -> str:
    """Return the part of a secret that a dynamic reference names.

    Args:
        reference: Secret, and optionally ``SecretString``, a JSON key, a stage and a version, by colons.
        clients: Clients of the local AWS.
        region: Region.

    Raises:
        ValidationError: If there is no such secret or key.
    """
    # The name of the secret may be an ARN, which has colons of its own.
    arn = re.match(r"arn:[^:]+:secretsmanager:[^:]+:[^:]+:secret:[^:]+", reference)
    name = arn[0] if arn else reference.split(":", maxsplit=1)[0]
    _, key, stage, version, *_ = [*reference[len(name) :].removeprefix(":").split(":"), "", "", "", ""]
    chosen = {"VersionStage": stage, "VersionId": version}
    try:
        text: str = clients.get("secretsmanager", region).get_secret_value(
            SecretId=name, **{label: part for label, part in chosen.items() if part}
        )["SecretString"]
        return str(json.loads(text)[key]) if key else text
    except ClientError as error:
        raise ValidationError(error.response["Error"]["Message"]) from None
    except (KeyError, ValueError):
        raise ValidationError("Could not find a value associated with JSONKey in SecretString") from None
