"""Turns a template of the CDK into one that needs neither its bootstrap nor one Region."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ultracluster_catalog.names.identifiers import RESERVATION_ID, ZONE_ID
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["BUCKET_PARAMETER", "exported_template", "text_of"]

BUCKET_PARAMETER: Final = "AssetBucket"
"""The parameter that names the bucket with the code of functions."""

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
    """Give a template that can be deployed by itself.

    Args:
        template: A template that the CDK has synthesized for one place.
        values: Values that become parameters, with the names of these: ``ImageId``, ``ZoneId`` or ``ReservationId``, perhaps with a
            number behind it. They stay as defaults.
        region: The Region that it was synthesized for; whatever names it, or its partition in an ARN, names that of the
            deployment instead.
        bucket: Default of the parameter for the bucket with assets. None for none.

    Raises:
        FindingsError: If a value is part of a key, which CloudFormation cannot compute (UC9610), or the template
            needs something else of the bootstrap (UC9612).
    """
    wanted = {value: f"${{{name}}}" for value, name in values.items()} | {region: "${AWS::Region}"}
    resources = {
        name: _without_cdk(resource)
        for name, resource in template["Resources"].items()
        if resource["Type"] != "AWS::CDK::Metadata"
    }
    body = {key: template[key] for key in ("Description", "Conditions", "Mappings") if key in template}
    body = _replaced(body | {"Resources": resources, "Outputs": template.get("Outputs", {})}, wanted)
    text = json.dumps(body)
    if _BOOTSTRAP_BUCKET.search(text) or "container-assets" in text:
        problem = "the template needs the bootstrap of the CDK for more than the code of a function"
        raise FindingsError([Finding(code="UC9612", problem=problem, remedy="Deploy it with the CDK")])
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
    """Give a template as text without spaces: up to 51,200 bytes can be sent as they are, more go by way of a bucket."""
    return json.dumps(template, separators=(",", ":"))


def _parameter(name: str, default: str | None) -> dict[str, str]:
    found = _NAME.match(name)
    kind = _KINDS[found[0]] if found else {}
    return kind | ({"Default": default} if default else {})


def _without_cdk(resource: Mapping[str, Any]) -> dict[str, Any]:
    """A resource without notes for the CDK, and with its code in a bucket of the one who deploys."""
    kept = {
        key: value
        for key, value in (resource.get("Metadata") or {}).items()
        if not key.startswith(("aws:cdk", "aws:asset"))
    }
    plain = {key: value for key, value in resource.items() if key != "Metadata"}
    if kept:
        plain["Metadata"] = kept
    code = (plain.get("Properties") or {}).get("Code")
    if isinstance(code, Mapping) and _BOOTSTRAP_BUCKET.search(json.dumps(code.get("S3Bucket"))):
        moved = {**code, "S3Bucket": {"Ref": BUCKET_PARAMETER}}
        plain["Properties"] = {**plain["Properties"], "Code": moved}
    return plain


def _replaced(value: Any, wanted: Mapping[str, str]) -> Any:
    match value:
        case str():
            filled = _filled(value, wanted)
            return value if filled == value else _expression(value, wanted)
        case {"Fn::Sub": str(text)}:
            return {"Fn::Sub": _filled(text, wanted)}
        case {"Fn::Sub": [str(text), variables]}:
            return {"Fn::Sub": [_filled(text, wanted), _replaced(variables, wanted)]}
        case Mapping():
            for key in value:
                if _filled(key, wanted) != key:
                    problem = f"{quote(key)} is a key, and holds what should become a parameter"
                    raise FindingsError(
                        [Finding(code="UC9610", problem=problem, remedy="Choose another name or tag")]
                    )
            return {key: _replaced(each, wanted) for key, each in value.items()}
        case list():
            return [_replaced(each, wanted) for each in value]
        case _:
            return value


def _pattern(wanted: Mapping[str, str]) -> re.Pattern[str]:
    # us-east-1 is no part of us-east-10, and a partition is one inside of an ARN only.
    values = (f"{re.escape(each)}(?![0-9a-f])" for each in sorted(wanted, key=len, reverse=True))
    return re.compile("|".join([*values, r"(?<=\barn:)aws[a-z-]*(?=:)"]))


def _filled(text: str, wanted: Mapping[str, str]) -> str:
    return _pattern(wanted).sub(lambda found: wanted.get(found[0], _PARTITION), text)


def _expression(text: str, wanted: Mapping[str, str]) -> Any:
    """A string as a reference, or as references and pieces joined. No Fn::Sub: a script has its own ``${...}``."""
    parts = list(_parts(text, wanted))
    return parts[0] if len(parts) == 1 else {"Fn::Join": ["", parts]}


def _parts(text: str, wanted: Mapping[str, str]) -> Iterator[Any]:
    at = 0
    for found in _pattern(wanted).finditer(text):
        if found.start() > at:
            yield text[at : found.start()]
        yield {"Ref": wanted.get(found[0], _PARTITION).removeprefix("${").removesuffix("}")}
        at = found.end()
    if at < len(text):
        yield text[at:]
