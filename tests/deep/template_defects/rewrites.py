"""Rewrites of sound templates that change nothing on AWS, by a program with a seed."""

import copy
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.deep.template_defects.templates import (
    HERE,
    Application,
    Template,
    base,
    blind_names,
    edited,
    names,
    parse,
)

SEED = 20261122
_NOVALUE = {"Ref": "AWS::NoValue"}
# Code, scripts and state machines are text of their own.
_OPAQUE = {"ZipFile", "UserData", "Definition"}
_UNORDERED = {
    "Action",
    "Devices",
    "Environment",
    "ManagedPolicyArns",
    "NetworkInterfaces",
    "SecurityGroupEgress",
    "SecurityGroupIds",
    "SecurityGroupIngress",
    "Statement",
    "Tags",
    "Ulimits",
}
_SAME_ATTRIBUTE = {
    "AWS::EC2::SecurityGroup": "GroupId",
    "AWS::Batch::ComputeEnvironment": "ComputeEnvironmentArn",
    "AWS::Batch::JobQueue": "JobQueueArn",
    "AWS::EC2::LaunchTemplate": "LaunchTemplateId",
    "AWS::SNS::Topic": "TopicArn",
}
_VARIABLE = re.compile(r"\$\{([^!}][^}]*)\}")


@dataclass(frozen=True)
class Rewrite:
    """One rewrite of a base.

    Attributes:
        kind: Name of the rewrite.
        base: Name of the template.
        application: What comes out.
    """

    kind: str
    base: str
    application: Application


def _is_function(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) == 1
        and any(key in ("Ref", "Condition") or key.startswith("Fn::") for key in value)
    )


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return the value with each function changed, innermost first."""
    if isinstance(value, dict):
        value = {key: _mapped(item, change) for key, item in value.items()}
        return change(value) if _is_function(value) else value
    return [_mapped(item, change) for item in value] if isinstance(value, list) else value


def _in_properties(change: Callable[[Any], Any]) -> Callable[[Template, random.Random], None]:
    def rewrite(template: Template, _rng: random.Random) -> None:
        for resource in template["Resources"].values():
            if "Properties" in resource:
                resource["Properties"] = _mapped(resource["Properties"], change)

    return rewrite


def _containers(value: Any) -> Iterator[dict[str, Any]]:
    """Yield each object in a value, outside of functions and opaque text."""
    if isinstance(value, dict) and not _is_function(value):
        yield value
        for key, item in value.items():
            if key not in _OPAQUE:
                yield from _containers(item)
    elif isinstance(value, list):
        for item in value:
            yield from _containers(item)


def _objects(template: Template) -> list[dict[str, Any]]:
    return [
        item
        for resource in template["Resources"].values()
        for item in _containers(resource.get("Properties", {}))
    ]


def _resources(template: Template, kind: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, body) for name, body in template["Resources"].items() if body["Type"] == kind]


def _literals(template: Template, rng: random.Random, count: int) -> list[tuple[dict[str, Any], str]]:
    """Return some places of literal text or numbers, whose text is no wildcard of a policy."""
    found = [
        (item, key)
        for item in _objects(template)
        for key, value in item.items()
        if isinstance(value, str | int)
        and not isinstance(value, bool)
        and key not in {*_OPAQUE, "Version", "Effect"}
    ]
    return rng.sample(found, min(count, len(found)))


def _renamed(template: Template, _rng: random.Random) -> None:
    ids = {name: f"Z{index}{name[::-1]}" for index, name in enumerate(template["Resources"])}

    def change(value: Any) -> Any:
        ((function, inner),) = value.items()
        if function == "Ref":
            return {"Ref": ids.get(inner, inner)}
        if function == "Fn::GetAtt":
            return {function: [ids.get(inner[0], inner[0]), *inner[1:]]}
        if function == "Fn::Sub":
            own = inner[1] if isinstance(inner, list) else {}
            text = _VARIABLE.sub(
                lambda match: (
                    "${"
                    + ".".join(
                        ids.get(part, part) if index == 0 and part not in own else part
                        for index, part in enumerate(match[1].split("."))
                    )
                    + "}"
                ),
                inner[0] if isinstance(inner, list) else inner,
            )
            return {function: [text, own] if isinstance(inner, list) else text}
        return value

    template["Resources"] = {ids[name]: _mapped(body, change) for name, body in template["Resources"].items()}
    if "Outputs" in template:
        template["Outputs"] = _mapped(template["Outputs"], change)
    for body in template["Resources"].values():
        if depends := body.get("DependsOn"):
            body["DependsOn"] = ids[depends] if isinstance(depends, str) else [ids[name] for name in depends]


def _ref_as_sub(value: Any) -> Any:
    return {"Fn::Sub": "${" + value["Ref"] + "}"} if "Ref" in value and value != _NOVALUE else value


def _ref_as_sub_in(template: Template, rng: random.Random) -> None:
    lists = {name for name, body in template.get("Parameters", {}).items() if "List" in body["Type"]}
    _in_properties(lambda value: value if value.get("Ref") in lists else _ref_as_sub(value))(template, rng)


def _getatt_as_sub(value: Any) -> Any:
    return {"Fn::Sub": "${" + ".".join(value["Fn::GetAtt"]) + "}"} if "Fn::GetAtt" in value else value


def _getatt_as_text(value: Any) -> Any:
    return {"Fn::GetAtt": ".".join(value["Fn::GetAtt"])} if "Fn::GetAtt" in value else value


def _pieces(text: str) -> list[Any]:
    pieces: list[Any] = []
    position = 0
    for match in _VARIABLE.finditer(text):
        pieces.append(text[position : match.start()])
        name = match[1]
        is_attribute = "." in name
        pieces.append({"Fn::GetAtt": name.split(".", 1)} if is_attribute else {"Ref": name})
        position = match.end()
    pieces.append(text[position:])
    return [piece for piece in pieces if piece != ""]


def _sub_as_join(value: Any) -> Any:
    if isinstance(text := value.get("Fn::Sub"), str) and "${!" not in text:
        return {"Fn::Join": ["", _pieces(text)]}
    return value


def _sub_as_nested_join(value: Any) -> Any:
    joined = _sub_as_join(value)
    if "Fn::Join" in joined and joined["Fn::Join"][0] == "" and isinstance(joined["Fn::Join"][1], list):
        pieces = joined["Fn::Join"][1]
        half = len(pieces) // 2
        if half:
            return {"Fn::Join": ["", [{"Fn::Join": ["", pieces[:half]]}, {"Fn::Join": ["", pieces[half:]]}]]}
    return joined


def _sub_with_variables(value: Any) -> Any:
    text = value.get("Fn::Sub")
    if not isinstance(text, str) or "${!" in text:
        return value
    variables: dict[str, Any] = {}

    def named(match: re.Match[str]) -> str:
        name = f"V{len(variables)}"
        variables[name] = {"Fn::GetAtt": match[1].split(".", 1)} if "." in match[1] else {"Ref": match[1]}
        return "${" + name + "}"

    text = _VARIABLE.sub(named, text)
    return {"Fn::Sub": [text, variables]} if variables else value


def _as_parameters(template: Template, rng: random.Random) -> None:
    parameters = template.setdefault("Parameters", {})
    for index, (item, key) in enumerate(_literals(template, rng, 12)):
        kind = "Number" if isinstance(item[key], int) else "String"
        parameters[f"Moved{index}"] = {"Type": kind, "Default": item[key]}
        item[key] = {"Ref": f"Moved{index}"}


def _as_mappings(template: Template, rng: random.Random) -> None:
    table: dict[str, Any] = {}
    for index, (item, key) in enumerate(_literals(template, rng, 12)):
        table[f"Value{index}"] = item[key]
        item[key] = {"Fn::FindInMap": ["Moved", "Values", f"Value{index}"]}
    template.setdefault("Mappings", {})["Moved"] = {"Values": table}


def _always(template: Template) -> None:
    template.setdefault("Conditions", {})["Always"] = {"Fn::Equals": ["a", "a"]}


def _never(template: Template) -> None:
    template.setdefault("Conditions", {})["Never"] = {"Fn::Equals": ["a", "b"]}


def _under_true_condition(template: Template, rng: random.Random) -> None:
    _always(template)
    for item, key in _literals(template, rng, 12):
        item[key] = {"Fn::If": ["Always", item[key], _NOVALUE]}


def _objects_under_condition(template: Template, rng: random.Random) -> None:
    """Wrap whole objects and lists, such as a policy or the interfaces."""
    _always(template)
    found = [
        (item, key)
        for item in _objects(template)
        for key, value in item.items()
        if isinstance(value, dict | list) and value and not _is_function(value) and key not in _OPAQUE
    ]
    for item, key in rng.sample(found, min(3, len(found))):
        item[key] = {"Fn::If": ["Always", item[key], _NOVALUE]}


def _without_value(template: Template, _rng: random.Random) -> None:
    """Set properties that nobody needs to Fn::If with NoValue."""
    _never(template)
    for body in template["Resources"].values():
        if body["Type"] in (
            "AWS::EC2::SecurityGroup",
            "AWS::S3::Bucket",
            "AWS::FSx::FileSystem",
            "AWS::SNS::Topic",
        ):
            properties = body.setdefault("Properties", {})
            properties.setdefault("Tags", {"Fn::If": ["Never", [{"Key": "a", "Value": "b"}], _NOVALUE]})


def _items_without_value(template: Template, _rng: random.Random) -> None:
    _never(template)
    for item in _objects(template):
        for key in {"ManagedPolicyArns", "SecurityGroupIds", "SecurityGroupIngress", "Devices"} & item.keys():
            if isinstance(item[key], list) and item[key]:
                item[key] = [*item[key], {"Fn::If": ["Never", copy.deepcopy(item[key][0]), _NOVALUE]}]


def _resources_under_condition(template: Template, _rng: random.Random) -> None:
    _always(template)
    for body in template["Resources"].values():
        body.setdefault("Condition", "Always")


def _reordered(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: _reordered(value[key], rng) for key in keys}
    return [_reordered(item, rng) for item in value] if isinstance(value, list) else value


def _keys_shuffled(template: Template, rng: random.Random) -> None:
    shuffled = _reordered(template, rng)
    template.clear()
    template.update(shuffled)


def _lists_shuffled(template: Template, rng: random.Random) -> None:
    for item in _objects(template):
        for key in _UNORDERED & item.keys():
            if isinstance(item[key], list):
                rng.shuffle(item[key])


def _as_strings(template: Template, _rng: random.Random) -> None:
    """CloudFormation converts text to what a property has; inside of policies and patterns it does not."""
    for body in template["Resources"].values():
        for item in _containers({k: v for k, v in body.get("Properties", {}).items() if "Polic" not in k}):
            for key, value in item.items():
                if key in ("EventPattern", "PolicyDocument", "BackupPlan"):
                    continue
                if isinstance(value, bool):
                    item[key] = str(value).lower()
                elif isinstance(value, int):
                    item[key] = str(value)


def _digits_as_numbers(template: Template, _rng: random.Random) -> None:
    for item in _objects(template):
        for key in {"Value", "MinSize", "MaxSize", "IpProtocol"} & item.keys():
            if isinstance(item[key], str) and re.fullmatch(r"-?\d{1,7}", item[key]):
                item[key] = int(item[key])


def _with_metadata(template: Template, _rng: random.Random) -> None:
    template["Metadata"] = {"Owner": "training"}
    for name, body in template["Resources"].items():
        body.setdefault("Metadata", {})["Comment"] = f"This is {name}"


def _with_more_dependencies(template: Template, _rng: random.Random) -> None:
    names_of = set(template["Resources"])
    for body in template["Resources"].values():
        used: set[str] = set()

        def note(value: Any, used: set[str] = used) -> Any:
            if value.get("Ref") in names_of:
                used.add(value["Ref"])
            return value

        _mapped(body.get("Properties", {}), note)
        own = body.get("DependsOn", [])
        if used:
            body["DependsOn"] = sorted({*([own] if isinstance(own, str) else own), *used})


def _ingress_apart(template: Template, _rng: random.Random) -> None:
    """Only ingress: a group without rules for egress of its own would let everything out."""
    for name, body in _resources(template, "AWS::EC2::SecurityGroup"):
        for index, rule in enumerate(body["Properties"].pop("SecurityGroupIngress", [])):
            template["Resources"][f"{name}Ingress{index}"] = {
                "Type": "AWS::EC2::SecurityGroupIngress",
                "Properties": {"GroupId": {"Fn::GetAtt": [name, "GroupId"]}, **rule},
            }


def _egress_apart(template: Template, _rng: random.Random) -> None:
    """The first rule stays, so that the rule for all traffic is not made by default."""
    for name, body in _resources(template, "AWS::EC2::SecurityGroup"):
        rules = body["Properties"].get("SecurityGroupEgress", [])
        for index, rule in enumerate(rules[1:]):
            template["Resources"][f"{name}Egress{index}"] = {
                "Type": "AWS::EC2::SecurityGroupEgress",
                "Properties": {"GroupId": {"Fn::GetAtt": [name, "GroupId"]}, **rule},
            }
        del rules[1:]


def _wait_for_policy(template: Template, role: str, policy: str) -> None:
    for body in template["Resources"].values():
        if body["Type"] == "AWS::Lambda::Function" and body["Properties"]["Role"] == {
            "Fn::GetAtt": [role, "Arn"]
        }:
            own = body.get("DependsOn", [])
            body["DependsOn"] = [*([own] if isinstance(own, str) else own), policy]


def _policies_apart(kind: str) -> Callable[[Template, random.Random], None]:
    def rewrite(template: Template, _rng: random.Random) -> None:
        for name, body in _resources(template, "AWS::IAM::Role"):
            for index, policy in enumerate(body["Properties"].pop("Policies", [])):
                added = f"{name}Apart{index}"
                properties = {"PolicyDocument": policy["PolicyDocument"], "Roles": [{"Ref": name}]}
                if kind == "AWS::IAM::Policy":
                    properties["PolicyName"] = policy["PolicyName"]
                template["Resources"][added] = {"Type": kind, "Properties": properties}
                _wait_for_policy(template, name, added)

    return rewrite


def _statements_split(template: Template, _rng: random.Random) -> None:
    """One statement for each action, where it allows."""
    for item in _objects(template):
        if isinstance(statements := item.get("Statement"), list):
            item["Statement"] = [
                {key: value for key, value in statement.items() if key != "Sid"} | {"Action": action}
                for statement in statements
                for action in (
                    statement["Action"]
                    if isinstance(statement.get("Action"), list)
                    else [statement.get("Action")]
                )
            ]


def _statements_in_lists(template: Template, _rng: random.Random) -> None:
    for item in _objects(template):
        for statement in item.get("Statement", []) if isinstance(item.get("Statement"), list) else []:
            for key in ("Action", "Resource"):
                if key in statement and not isinstance(statement[key], list):
                    statement[key] = [statement[key]]


def _actions_in_other_case(template: Template, _rng: random.Random) -> None:
    """IAM does not look at the case of actions."""
    for item in _objects(template):
        for statement in item.get("Statement", []) if isinstance(item.get("Statement"), list) else []:
            action = statement.get("Action")
            if isinstance(action, str):
                statement["Action"] = action.swapcase() if action == "*" else action.lower()
            elif isinstance(action, list):
                statement["Action"] = [one.lower() for one in action]


def _protocol_by_number(template: Template, _rng: random.Random) -> None:
    for item in _objects(template):
        if item.get("IpProtocol") == "tcp":
            item["IpProtocol"] = "6"


def _attribute_for_ref(template: Template, rng: random.Random) -> None:
    kinds = {name: body["Type"] for name, body in template["Resources"].items()}

    def change(value: Any) -> Any:
        attribute = _SAME_ATTRIBUTE.get(kinds.get(value.get("Ref", ""), ""))
        return {"Fn::GetAtt": [value["Ref"], attribute]} if attribute else value

    _in_properties(change)(template, rng)


def _ref_for_attribute(template: Template, rng: random.Random) -> None:
    kinds = {name: body["Type"] for name, body in template["Resources"].items()}

    def change(value: Any) -> Any:
        target = value.get("Fn::GetAtt")
        if target and _SAME_ATTRIBUTE.get(kinds[target[0]]) == target[1]:
            return {"Ref": target[0]}
        return value

    _in_properties(change)(template, rng)


def _selected(template: Template, rng: random.Random) -> None:
    for item, key in _literals(template, rng, 8):
        if isinstance(item[key], str):
            item[key] = {"Fn::Select": [1, ["unused", item[key]]]}


def _split(template: Template, _rng: random.Random) -> None:
    for item in _objects(template):
        for key in {"Permissions", "InstanceTypes", "Events", "PlatformCapabilities"} & item.keys():
            if isinstance(item[key], list) and all(isinstance(one, str) for one in item[key]):
                item[key] = {"Fn::Split": [",", ",".join(item[key])]}


def _with_unrelated(template: Template, _rng: random.Random) -> None:
    template["Resources"]["Unrelated"] = {
        "Type": "AWS::SSM::Parameter",
        "Properties": {"Type": "String", "Value": "2026"},
    }
    template.setdefault("Outputs", {})["Unrelated"] = {"Value": {"Ref": "Unrelated"}}


def _with_description(template: Template, _rng: random.Random) -> None:
    template["Description"] = "The same in other words"
    for body in template.get("Parameters", {}).values():
        body["Description"] = "A parameter"
    template["AWSTemplateFormatVersion"] = "2010-09-09"


def _defaults_given_twice(template: Template, _rng: random.Random) -> None:
    """State what is the default anyway."""
    for _, body in _resources(template, "AWS::Batch::ComputeEnvironment"):
        body["Properties"].setdefault("State", "ENABLED")
    for _, body in _resources(template, "AWS::Batch::JobQueue"):
        body["Properties"].setdefault("State", "ENABLED")
    for _, body in _resources(template, "AWS::Events::Rule"):
        body["Properties"].setdefault("State", "ENABLED")
    for _, body in _resources(template, "AWS::Lambda::Function"):
        body["Properties"].setdefault("PackageType", "Zip")
    for _, body in _resources(template, "AWS::EC2::Subnet"):
        body["Properties"].setdefault("MapPublicIpOnLaunch", False)


def _defaults_left_out(template: Template, _rng: random.Random) -> None:
    """Leave out what is the default anyway."""
    for kind in ("AWS::Batch::ComputeEnvironment", "AWS::Batch::JobQueue", "AWS::Events::Rule"):
        for _, body in _resources(template, kind):
            if body["Properties"].get("State") == "ENABLED":
                del body["Properties"]["State"]
    for _, body in _resources(template, "AWS::EC2::LaunchTemplate"):
        for interface in body["Properties"]["LaunchTemplateData"].get("NetworkInterfaces", []):
            if interface.get("NetworkCardIndex") == 0:
                del interface["NetworkCardIndex"]


_KINDS: dict[str, Callable[[Template, random.Random], None]] = {
    "renamed logical IDs": _renamed,
    "Fn::Sub for Ref": _ref_as_sub_in,
    "Fn::Sub for Fn::GetAtt": _in_properties(_getatt_as_sub),
    "Fn::GetAtt as text": _in_properties(_getatt_as_text),
    "Fn::Join for Fn::Sub": _in_properties(_sub_as_join),
    "nested Fn::Join": _in_properties(_sub_as_nested_join),
    "Fn::Sub with variables": _in_properties(_sub_with_variables),
    "parameters with defaults": _as_parameters,
    "mappings": _as_mappings,
    "values under a true condition": _under_true_condition,
    "objects under a true condition": _objects_under_condition,
    "properties without value": _without_value,
    "list items without value": _items_without_value,
    "resources under a true condition": _resources_under_condition,
    "keys in another order": _keys_shuffled,
    "lists in another order": _lists_shuffled,
    "text for numbers and booleans": _as_strings,
    "numbers for text": _digits_as_numbers,
    "metadata": _with_metadata,
    "redundant DependsOn": _with_more_dependencies,
    "ingress rules apart": _ingress_apart,
    "egress rules apart": _egress_apart,
    "inline policies apart": _policies_apart("AWS::IAM::Policy"),
    "managed for inline policies": _policies_apart("AWS::IAM::ManagedPolicy"),
    "one statement per action": _statements_split,
    "lists for single actions": _statements_in_lists,
    "actions in lower case": _actions_in_other_case,
    "protocol by number": _protocol_by_number,
    "Fn::GetAtt for Ref": _attribute_for_ref,
    "Ref for Fn::GetAtt": _ref_for_attribute,
    "Fn::Select": _selected,
    "Fn::Split": _split,
    "an unrelated resource": _with_unrelated,
    "other descriptions": _with_description,
    "defaults given": _defaults_given_twice,
    "defaults left out": _defaults_left_out,
}


def rewrites() -> Iterator[Rewrite]:
    """Yield each kind of rewrite of each base that it changes, then the sound variants of the table."""
    return _rewrites(names(), HERE / "variants.yaml")


def blind_rewrites(blind: str) -> Iterator[Rewrite]:
    """Yield the same for the bases and the sound variants of one of `BLIND_SETS`."""
    return _rewrites(blind_names(blind), HERE / blind / "variants.yaml")


def _rewrites(some_names: Sequence[str], variants: Path) -> Iterator[Rewrite]:
    for name in some_names:
        for kind, change in _KINDS.items():
            application = base(name)
            for template in application.values():
                change(template, random.Random(f"{SEED} {name} {kind}"))  # noqa: S311 - no secret
            # Order counts: shuffled keys are equal as dictionaries.
            if repr(application) != repr(base(name)):
                yield Rewrite(kind=kind, base=name, application=application)
    for row in parse(variants.read_text()):
        yield Rewrite(
            kind=f"variant: {row['id']}", base=row["base"], application=edited(base(row["base"]), row["edit"])
        )
