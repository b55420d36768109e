"""Resources that only serve others and that nothing uses, which is how a swapped or lost reference shows."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_checks.model.nodes import (
    AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT,
    LAUNCH_TEMPLATE,
    NODE_GROUP,
)
from ultracluster_checks.model.permissions import KEY, POLICIES, ROLE
from ultracluster_checks.model.template import Resource, Template, Templates
from ultracluster_checks.problem import Wrong, rule

_INSTANCE: Final = "AWS::EC2::Instance"
_NODES: Final = (AUTO_SCALING_GROUP, COMPUTE_ENVIRONMENT, NODE_GROUP, _INSTANCE)
_ENCRYPTED: Final = ("AWS::S3::Bucket", "AWS::FSx::FileSystem", "AWS::EFS::FileSystem", "AWS::SNS::Topic", "AWS::SQS::Queue")  # fmt: skip
# Type, those that use it, and those whose references are no use of it.
_SERVING: Final = (
    ("AWS::Batch::SchedulingPolicy", ("AWS::Batch::JobQueue",), ()),
    ("AWS::EC2::EIP", ("AWS::EC2::NatGateway", _INSTANCE), ()),
    ("AWS::EC2::InternetGateway", ("AWS::EC2::VPC",), ("AWS::EC2::Route",)),
    (LAUNCH_TEMPLATE, _NODES, ()),
    ("AWS::EC2::NatGateway", ("AWS::EC2::RouteTable",), ()),
    ("AWS::EC2::RouteTable", ("AWS::EC2::Subnet",), ("AWS::EC2::Route", "AWS::EC2::VPCEndpoint")),
    ("AWS::EC2::SecurityGroup", (*_NODES, LAUNCH_TEMPLATE, "AWS::FSx::FileSystem", "AWS::EC2::VPCEndpoint"), ()),
    ("AWS::ElasticLoadBalancingV2::TargetGroup", ("AWS::ElasticLoadBalancingV2::Listener",), ()),
    ("AWS::IAM::InstanceProfile", (*_NODES, LAUNCH_TEMPLATE), ()),
    ("AWS::ImageBuilder::Component", ("AWS::ImageBuilder::ImageRecipe", "AWS::ImageBuilder::ContainerRecipe"), ()),
    ("AWS::ImageBuilder::ImageRecipe", ("AWS::ImageBuilder::ImagePipeline", "AWS::ImageBuilder::Image"), ()),
    ("AWS::ImageBuilder::InfrastructureConfiguration", ("AWS::ImageBuilder::ImagePipeline",), ()),
    (KEY, _ENCRYPTED, (ROLE, *POLICIES)),
)  # fmt: skip
# With one of them, a resource is used by anyone who knows its name, or is attached by itself.
_ATTACHED: Final = ("LaunchTemplateName", "GroupName", "InstanceProfileName", "InstanceId", "AssociateWithPrivateIp", "Name")  # fmt: skip


@rule("UC6468")
def serving_resources_are_used(templates: Templates) -> Iterator[Wrong]:
    """Find resources that nothing refers to although the templates have resources that use such ones."""
    for kind, users, apart in _SERVING:
        bodies = [str(user.body) for user in templates.of_type(*users)]
        judged = bodies and not any(
            "Fn::If" in body for body in bodies
        )  # what a condition leaves out may use it
        for resource in templates.of_type(kind) if judged else ():
            if not _is_used_by_itself(resource) and not _is_used(resource, {*apart}):
                got = f"nothing uses {resource.logical_id}: a reference to it is lost, or it is left over"
                yield resource.properties, got, "a reference to it, or no such resource"


def _is_used_by_itself(resource: Resource) -> bool:
    """Return whether others may use a resource by its name, or it names what it serves."""
    same = any(target.type == resource.type for target in resource.properties.targets)
    return same or any(not resource[name].missing for name in _ATTACHED)


def _is_used(resource: Resource, apart: set[str]) -> bool:
    """Return whether outputs or other resources refer to a resource, under a condition, too."""
    name = re.compile(rf"'{resource.logical_id}['.]|\$\{{{resource.logical_id}[.}}]")
    bodies = _bodies(resource.template)
    return any(
        name.search(text)
        for other, text in bodies
        if other is not resource and getattr(other, "type", "") not in apart
    )


@lru_cache(maxsize=8)
def _bodies(template: Template) -> tuple[tuple[Resource | None, str], ...]:
    """Return the properties of each resource, and the outputs, as text."""
    resources = [(each, str(each.body.get("Properties"))) for each in template.resources.values()]
    return (*resources, (None, str(template.source.body.get("Outputs"))))
