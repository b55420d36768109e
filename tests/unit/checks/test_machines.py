"""Launch templates, compute environments and instance types that belong together."""

from typing import Any

import pytest

from ultracluster_checks import Source
from ultracluster_checks.machines import (
    catalogued,
    compute_environments,
    environment_types,
    launch_template_of,
    template_types,
    users_of,
)
from ultracluster_checks.template import Property, Resource, Templates


def resources(**bodies: Any) -> dict[str, Resource]:
    (template,) = Templates([Source(name="it", body={"Resources": bodies})]).all
    return template.resources


def launch_template(**data: Any) -> dict[str, Any]:
    properties = {"LaunchTemplateName": "nodes", "LaunchTemplateData": data}
    return {"Type": "AWS::EC2::LaunchTemplate", "Properties": properties}


def environment(
    *types: Any, kind: str = "EC2", template: Any = None, by: str = "LaunchTemplateId"
) -> dict[str, Any]:
    compute: dict[str, Any] = {"Type": kind, "InstanceTypes": list(types)}
    if template is not None:
        compute["LaunchTemplate"] = {by: template}
    return {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {"ComputeResources": compute}}


@pytest.mark.parametrize(("kind", "found"), [("EC2", 1), ("SPOT", 1), ("FARGATE", 0), ("FARGATE_SPOT", 0)])
def test_only_environments_on_ec2_are_considered(kind: str, found: int) -> None:
    templates = Templates([Source(name="it", body={"Resources": {"It": environment(kind=kind)}})])

    assert len(list(compute_environments(templates))) == found


@pytest.mark.parametrize(
    ("reference", "by", "found"),
    [
        ({"Ref": "Nodes"}, "LaunchTemplateId", True),
        ({"Ref": "Nodes"}, "LaunchTemplateName", True),
        ("nodes", "LaunchTemplateName", True),
        ("others", "LaunchTemplateName", False),
        ("lt-0123456789abcdef0", "LaunchTemplateId", False),
    ],
)
def test_launch_template_is_found_by_reference_or_name(reference: Any, by: str, found: bool) -> None:
    its = resources(Nodes=launch_template(), It=environment(template=reference, by=by))

    assert launch_template_of(its["It"]) is (its["Nodes"] if found else None)
    assert users_of(its["Nodes"]) == ([its["It"]] if found else [])


def test_mixed_instances_policy_of_an_auto_scaling_group_names_its_launch_template() -> None:
    policy = {"LaunchTemplate": {"LaunchTemplateSpecification": {"LaunchTemplateId": {"Ref": "Nodes"}}}}
    group = {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": {"MixedInstancesPolicy": policy}}
    its = resources(Nodes=launch_template(), It=group)

    assert launch_template_of(its["It"]) is its["Nodes"]


def test_own_type_of_a_launch_template_comes_before_those_of_its_users() -> None:
    user = environment("trn1.32xlarge", template={"Ref": "Nodes"})
    own = resources(Nodes=launch_template(InstanceType="trn2.48xlarge"), It=user)
    of_users = resources(Nodes=launch_template(), It=user)

    assert [each.name for each in template_types(own["Nodes"])] == ["trn2.48xlarge"]
    assert [each.name for each in template_types(of_users["Nodes"])] == ["trn1.32xlarge"]


@pytest.mark.parametrize("other", ["trn9.48xlarge", {"Ref": "NodeType"}])
def test_types_of_an_environment_are_unknown_if_one_of_them_is(other: Any) -> None:
    known = resources(It=environment("trn1.32xlarge", "trn2.48xlarge"))["It"]

    assert [each.name for each in environment_types(known) or []] == ["trn1.32xlarge", "trn2.48xlarge"]
    assert environment_types(resources(It=environment("trn1.32xlarge", other))["It"]) is None


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("trn2.48xlarge", True),
        ("trn2.96xlarge", False),
        ("Trn2.48xlarge", False),
        ("ml.trn2.48xlarge", False),
        ("trn9.48xlarge", None),
        ("m7i.48xlarge", None),
        (7, None),
    ],
)
def test_only_families_of_the_catalog_are_judged(name: Any, known: bool | None) -> None:
    (resource,) = resources(It=environment()).values()

    assert catalogued(Property(resource, (), name)) is known
