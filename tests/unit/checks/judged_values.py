"""A value of a template as the rules see it."""

from typing import Any

from ultracluster_checks import Source
from ultracluster_checks.model.template import Property, Templates

__all__ = ["judged"]

_PARAMETERS = {
    "Type": {"Type": "String", "Default": "trn2.48xlarge"},
    "Nodes": {"Type": "Number", "Default": 4},
    "Zones": {"Type": "CommaDelimitedList", "Default": "a, b"},
    "Given": {"Type": "String"},
    "Image": {"Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "Default": "/ami"},
}


def judged(value: Any, *, region: str | None = "us-east-2", further: tuple[Source, ...] = ()) -> Property:
    """Return a property of a template with parameters, a mapping and a bucket."""
    body = {
        "Parameters": _PARAMETERS,
        "Mappings": {"Zone": {"us-east-2": {"id": "use2-az3"}}},
        "Resources": {
            "It": {"Type": "T", "Properties": {"value": value}},
            "Bucket": {"Type": "AWS::S3::Bucket"},
        },
    }
    templates = Templates([Source(name="it", body=body, region=region), *further])
    return templates.all[0].resources["It"]["value"]
