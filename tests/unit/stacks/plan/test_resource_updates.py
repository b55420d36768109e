"""What replaces a resource, held against the registry of CloudFormation and the models of the services.

The registry of CloudFormation forgets settings that force a replacement, such as those of Lustre. An operation that does
not take a setting cannot change it, so for each property that the plan lets pass there must be an operation that takes it.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import yaml
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from ultracluster_local.cloudformation.registry.replacement_table import replacement_table
from ultracluster_local.cloudformation.resource_types import PROVIDERS
from ultracluster_stacks import plan
from ultracluster_stacks.plan.allowed import SAFE
from ultracluster_stacks.plan.resource_updates import (
    JOB_CARRIERS,
    LONGEST_JOB_TIMEOUT_MINUTES,
    MOVING_ATTRIBUTES,
    NETWORK_TYPES,
    STATEFUL,
    PropertyPath,
    replacement,
    touches,
)

pytestmark = pytest.mark.slow

FILE_SYSTEM = "AWS::FSx::FileSystem"
ENVIRONMENT = "AWS::Batch::ComputeEnvironment"


def shape(service: str, operation: str) -> Any:
    model = botocore.session.get_session().get_service_model(service)
    return model.operation_model(operation).input_shape


def test_the_table_matches_the_registry() -> None:
    table = Path(plan.__file__).with_name("replacement.json").read_text("utf-8")

    assert table == replacement_table(), "run `make tables`"


@pytest.mark.parametrize("resource_type", sorted({*PROVIDERS, *STATEFUL, *NETWORK_TYPES, *JOB_CARRIERS}))
def test_every_type_that_we_deploy_is_in_the_table(resource_type: str) -> None:
    assert replacement(resource_type, {}) is not None


def test_a_type_of_another_service_is_not_known() -> None:
    assert replacement("AWS::QuantumLedger::Cluster", {}) is None


def test_what_replaces_a_file_system_is_what_fsx_cannot_update() -> None:
    rules = replacement(FILE_SYSTEM, {})
    assert rules is not None
    members = shape("fsx", "UpdateFileSystem").members
    nested = [path[1] for path in rules.always if path[0] == "LustreConfiguration"]

    assert {"EfaEnabled", "DeploymentType"} <= set(nested)
    assert set(nested) & set(members["LustreConfiguration"].members) == set()
    # FSx takes another storage type of Windows file systems only.
    assert {path[0] for path in rules.always if len(path) == 1} & set(members) == {"StorageType"}


@pytest.mark.parametrize("resource_type", sorted({*STATEFUL} & {*SAFE}))
def test_nothing_is_both_safe_and_a_replacement(resource_type: str) -> None:
    rules = replacement(resource_type, {})
    assert rules is not None

    assert [path for path in SAFE[resource_type] if touches(path, rules.always | rules.sometimes)] == []


def test_the_settings_of_a_compute_environment_decide_whether_it_is_replaced() -> None:
    image = ("ComputeResources", "ImageId")
    default, kept = (
        replacement(ENVIRONMENT, {}),
        replacement(ENVIRONMENT, {"ReplaceComputeEnvironment": "false"}),
    )
    assert default is not None
    assert kept is not None

    assert touches(image, default.always)
    assert not touches(image, kept.always | kept.sometimes)
    assert touches(("Tags",), kept.always)


def test_the_longest_time_for_jobs_matches_the_model_of_batch() -> None:
    policy = shape("batch", "UpdateComputeEnvironment").members["updatePolicy"]
    said = policy.members["jobExecutionTimeoutMinutes"].documentation

    assert f"maximum value is {LONGEST_JOB_TIMEOUT_MINUTES}" in said


def test_a_path_touches_what_is_around_it_and_inside_it() -> None:
    others = frozenset({("A", "*", "B")})

    assert touches(("A",), others)
    assert touches(("A", "0", "B", "C"), others)
    assert not touches(("A", "0", "C"), others)
    assert MOVING_ATTRIBUTES


_OPERATIONS = yaml.safe_load((Path(__file__).parent / "edits" / "operations.yaml").read_text("utf-8"))
# The operations that take most of the properties of a type under their own names.
UPDATES: Mapping[str, list[str]] = {kind: listed["most"] for kind, listed in _OPERATIONS.items()}
# Properties with an operation of their own: which, and what it calls them.
ELSEWHERE: Mapping[str, Mapping[str, list[str]]] = {
    kind: {name: operations for name, operations in listed.items() if name != "most"}
    for kind, listed in _OPERATIONS.items()
}
# No service is told of them: they direct CloudFormation.
OF_CLOUDFORMATION = {("AWS::Batch::ComputeEnvironment", ("ReplaceComputeEnvironment",))}
Node = Mapping[str, Any]


def members(operation: str) -> Mapping[str, Any]:
    service, name = operation.split(":")
    return _inside(_model(service).operation_model(name).input_shape)


@cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)


def _inside(shape: Any) -> dict[str, Any]:
    """Members by their names in lower case: CloudFormation writes ``ComputeResources`` where AWS Batch has ``computeResources``."""
    while shape.type_name == "list":
        shape = shape.member
    return {name.lower(): member for name, member in getattr(shape, "members", {}).items()}


def schema(resource_type: str) -> Node:
    found: Node = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", resource_type).schema
    return found


def _resolved(document: Node, node: Node) -> Node:
    while "$ref" in node:
        reference, node = node["$ref"], document
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]
    return _resolved(document, node["items"]) if "items" in node else node


def not_updated(resource_type: str) -> Iterator[PropertyPath]:
    """Properties that users can set, a change of which is said to be in place, and which no operation of `UPDATES` takes."""
    document = schema(resource_type)
    rules = replacement(resource_type, {"ReplaceComputeEnvironment": "false"})
    assert rules is not None
    given = {tuple(one.split("/")[2:]) for one in document.get("readOnlyProperties", ())}

    def look(node: Node, taken: list[Mapping[str, Any]], path: PropertyPath) -> Iterator[PropertyPath]:
        for name, part in _resolved(document, node).get("properties", {}).items():
            inner = (*path, name)
            if inner in given or inner in rules.always or inner in rules.sometimes:
                continue
            found = [shapes[name.lower()] for shapes in taken if name.lower() in shapes]
            if not found:
                yield inner
            elif deeper := [inside for shape in found if (inside := _inside(shape))]:
                yield from look(part, deeper, inner)

    yield from look(document, [members(each) for each in UPDATES[resource_type]], ())


def test_all_types_that_hold_data_or_jobs_are_judged() -> None:
    # Rules, routes and attachments are replaced by any change, or have no property of their own to change.
    whole = {
        f"AWS::EC2::{name}"
        for name in (
            "InternetGateway",
            "NetworkAcl",
            "NetworkAclEntry",
            "RouteTable",
            "SecurityGroup",
            "SecurityGroupEgress",
            "SecurityGroupIngress",
            "SubnetNetworkAclAssociation",
            "SubnetRouteTableAssociation",
            "VPCGatewayAttachment",
        )
    }
    not_emitted = {kind for kind in JOB_CARRIERS if not kind.startswith("AWS::Batch::")}

    assert {*STATEFUL, *NETWORK_TYPES, *JOB_CARRIERS} - whole - not_emitted <= UPDATES.keys()


@pytest.mark.parametrize("resource_type", sorted(UPDATES))
def test_what_passes_as_a_change_in_place_is_what_the_service_can_update(resource_type: str) -> None:
    safe = SAFE.get(resource_type, {}) if resource_type in STATEFUL else None
    passes = [
        path
        for path in not_updated(resource_type)
        # In what holds data only the allow-list passes; elsewhere all that does not replace.
        if (safe is None or touches(path, frozenset(safe))) and (resource_type, path) not in OF_CLOUDFORMATION
    ]

    assert [".".join(path) for path in passes if ".".join(path) not in ELSEWHERE.get(resource_type, {})] == []


@pytest.mark.parametrize("resource_type", sorted(SAFE))
def test_what_is_safe_is_a_property_that_users_can_set(resource_type: str) -> None:
    document = schema(resource_type)
    for path in SAFE[resource_type]:
        node: Node = document
        for name in path:
            node = _resolved(document, node)
            if name in node.get("properties", {}):
                node = node["properties"][name]
            elif name.isdigit() or (name == "*" and "items" in node):
                node = node["items"]
            else:  # names that people choose
                break
        assert f"/properties/{'/'.join(path)}" not in document.get("readOnlyProperties", ())


@pytest.mark.parametrize("resource_type", sorted(ELSEWHERE))
def test_separate_operations_exist_and_accept_the_property(resource_type: str) -> None:
    for path, operations in ELSEWHERE[resource_type].items():
        assert (path,) in set(not_updated(resource_type)), f"{path} needs no operation of its own"
        for operation in operations:
            name, member = operation.split()
            assert member.lower() in members(name), operation


def test_settings_of_lustre_that_no_operation_takes_are_known_to_replace() -> None:
    lustre = [path for path in not_updated("AWS::FSx::FileSystem") if path[0] == "LustreConfiguration"]

    assert lustre == []
