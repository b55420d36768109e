"""The resources of a template through troposphere's typed classes: python troposphere_app.py TEMPLATE... OUTPUT."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from troposphere import AWSObject, Base64, GetAtt, ImportValue, Join, Ref, Sub, Tags, Template


def functions(value: Any) -> Any:
    """Put troposphere's objects in the place of intrinsic functions and tags."""
    match value:
        case {"Ref": name}:
            return Ref(name)
        case {"Fn::GetAtt": [name, attribute]}:
            return GetAtt(name, attribute)
        case {"Fn::Join": [glue, parts]}:
            return Join(glue, functions(parts))
        case {"Fn::ImportValue": name}:
            return ImportValue(name)
        case {"Fn::Base64": inner}:
            return Base64(functions(inner))
        case {"Fn::Sub": text}:
            return Sub(text)
        case [{"Key": _, "Value": _}, *_]:
            return Tags({tag["Key"]: functions(tag["Value"]) for tag in value})
        case dict():
            return {key: functions(each) for key, each in value.items()}
        case list():
            return [functions(each) for each in value]
        case _:
            return value


template = Template()
for source in sys.argv[1:-1]:
    for logical_id, resource in json.loads(Path(source).read_text(encoding="utf-8"))["Resources"].items():
        service = resource["Type"].split("::")[1].lower()
        module = importlib.import_module(f"troposphere.{service.replace('lambda', 'awslambda')}")
        kind: type[AWSObject] = next(
            each for each in vars(module).values() if getattr(each, "resource_type", None) == resource["Type"]
        )
        template.add_resource(kind.from_dict(logical_id, functions(resource.get("Properties", {}))))
Path(sys.argv[-1]).write_text(template.to_json(), encoding="utf-8")
