"""Parameter values of a template: submitted, previous, default, or read from SSM."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.errors import ValidationError
from ultracluster_local.instance.clients import Clients

__all__ = ["given_parameters", "ssm_parameter", "typed_parameters"]


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
    values = {name: str(one["Default"]) for name, one in declared.items() if "Default" in one}
    for one in sent:
        key = one["ParameterKey"]
        if one.get("UsePreviousValue"):
            if key in previous:
                values[key] = previous[key]
        else:
            values[key] = one.get("ParameterValue", "")
    missing = sorted(set(declared) - set(values))
    if missing:
        raise ValidationError(f"Parameters: [{', '.join(missing)}] must have values")
    for key, value in values.items():
        allowed = declared[key].get("AllowedValues")
        if allowed and value not in [str(one) for one in allowed]:
            raise ValidationError(f"Parameter '{key}' must be one of AllowedValues")
    return values


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
            raise ValidationError(f"Parameter '{name}' must be a number") from None
    if kind == "CommaDelimitedList" or kind.startswith("List<"):
        return [part.strip() for part in text.split(",")]
    return text


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
