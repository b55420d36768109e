"""Compute environments and job queues: whole nodes, one pinned launch template and image, updates that do not end jobs."""

from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.limits.queues import WAIT_LIMIT_REASONS
from ultracluster_checks.model.nodes import (
    COMPUTE_ENVIRONMENT,
    QUEUE,
    Nodes,
    batch_nodes,
    environment_types,
    instance_type_names,
    launch_data,
    launch_template_of,
    nodes_of,
)
from ultracluster_checks.model.permissions import may, role_behind
from ultracluster_checks.model.template import Resource
from ultracluster_checks.problem import Problem, Wrong, placed, rule
from ultracluster_spec.findings import Severity, quote
from ultracluster_spec.queue import check_wait_limits
from ultracluster_spec.record import RuleRecord

# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/instance_IAM_role.html (2026-11)
_JOINING: Final = ("ecs:DiscoverPollEndpoint", "ecs:Poll", "ecs:RegisterContainerInstance", "ecs:SubmitTaskStateChange")  # fmt: skip


@rule("", batch_nodes)
def environments_hold_whole_nodes(nodes: Nodes) -> Iterator[Wrong]:
    """Find environments whose vCPU limits hold no node, part of a node, or idle nodes."""
    least, most = nodes.settings["MinvCpus"], nodes.settings["MaxvCpus"]
    instance_types = environment_types(nodes.owner)
    if least.number:
        yield Problem.of(least, "UC4214", f"{least.number} vCPUs run and are billed without jobs", "0")
    if not instance_types or most.number is None:
        return
    smallest = min(instance_type.vcpus for instance_type in instance_types)
    whole = f"{smallest} for each node"
    if most.number < smallest:
        got = f"got {most.number}, and one {instance_types[0].name} has {smallest} vCPUs, so that no node starts"
        yield Problem.of(most, "UC4212", got, whole)
    elif len(instance_types) == 1 and most.number % smallest:
        held = most.number // smallest
        got = f"got {most.number}, which is {held} {'node' if held == 1 else 'nodes'} of {smallest} vCPUs and a rest"
        remedy = "256 is the default of AWS Batch and the CDK" if most.number == 256 else ""  # noqa: PLR2004
        yield Problem.of(most, "UC4213", got, whole, remedy)


@rule("UC4215", COMPUTE_ENVIRONMENT)
def types_match_their_launch_template(environment: Resource) -> Iterator[Wrong]:
    """Find environments with another instance type than their launch template."""
    template, names = launch_template_of(environment), instance_type_names(environment)
    types = environment["ComputeResources"]["InstanceTypes"]
    own = launch_data(template)["InstanceType"].text if template else None
    if template and names and own and any(name.text != own for name in names):
        got = f"got {', '.join(str(name.text) for name in names)}; {template.logical_id} is made for {own}, with its network cards"
        yield types, got, own


@rule("UC4216", nodes_of)
def launch_template_versions_are_pinned(nodes: Nodes) -> Iterator[Wrong]:
    """Find environments that do not pin the version of their launch template, and nodes with that of another one."""
    at = nodes.settings["LaunchTemplate"]
    version = at["Version"]
    pinned = at.missing or at.unknown or not (version.missing or version.text in {"$Latest", "$Default"})
    if nodes.in_batch and nodes.settings["Type"].text is not None and not pinned:
        got = "no version, which is $Default" if version.missing else quote(version.text)
        unchanged = (
            "AWS Batch resolves the version once, and CloudFormation sees no change when the template changes"
        )
        yield version, f"got {got}: {unchanged}", "the LatestVersionNumber of the launch template"
    mixed = nodes.owner["MixedInstancesPolicy"]["LaunchTemplate"]["LaunchTemplateSpecification"]["Version"]
    for of in (version, mixed) if nodes.template is not None else ():
        if nodes.template and of.target not in {nodes.template, None}:
            name = nodes.template.logical_id
            got = f"the version is that of {of.value.logical_id}, and the launch template is {name}"
            yield of, got, f"the LatestVersionNumber of {name}"


@rule("UC4219", batch_nodes)
def updates_spare_jobs(nodes: Nodes) -> Iterator[Wrong]:
    """Find environments whose update ends running jobs."""
    replaced = nodes.owner["ReplaceComputeEnvironment"]
    ends = nodes.owner["UpdatePolicy"]["TerminateJobsOnUpdate"]
    if nodes.settings["LaunchTemplate"].missing:
        return  # no EFA without a launch template
    updated = nodes.settings["AllocationStrategy"].text not in {None, "BEST_FIT"}
    if updated and (replaced.missing or replaced.flag):
        got = "most updates replace the environment, and the jobs on it end"
        yield replaced, got, "ReplaceComputeEnvironment: false"
    if ends.flag:
        yield ends, "an update of the nodes ends the jobs on them", "false"


@rule("", QUEUE)
def queues_wait_for_their_reservation(queue: Resource) -> Iterator[Wrong]:
    """Find time limits that cancel jobs waiting for their reservation to start."""
    at = queue["ComputeEnvironmentOrder"]
    used = {each["ComputeEnvironment"].target for each in at.items}
    nodes = [each for each in nodes_of(queue.template.templates) if each.template and each.owner in used]
    block = any(each.in_block for each in nodes)
    reserved = any(not each.data["CapacityReservationSpecification"].missing for each in nodes)
    names = {reason: name for name, reason in WAIT_LIMIT_REASONS.items()}
    for action in queue["JobStateTimeLimitActions"].items:
        limit = names.get(action["Reason"].text or "")
        limits = [limit] if limit else []
        yield from placed(action, check_wait_limits(limits, block=block, reserved=reserved, path=""))


@rule("UC4220", batch_nodes)
def nodes_can_join(nodes: Nodes) -> Iterator[Wrong]:
    """Find environments whose nodes may not register with Amazon ECS."""
    at = nodes.settings["InstanceRole"]
    role = role_behind(at)
    if role is None or not nodes.owner["EksConfiguration"].missing:
        return
    if lacking := [action for action in _JOINING if not may(role, action)]:
        unjoined = "nodes start, are billed and never join, and jobs stay RUNNABLE"
        allowed = "the managed policy AmazonEC2ContainerServiceforEC2Role, or its actions by name"
        yield at, f"{role.logical_id} does not allow {', '.join(lacking)}: {unjoined}", allowed


@rule("UC4224", nodes_of)
def nodes_have_drivers(nodes: Nodes) -> Iterator[Wrong]:
    """Find images without the driver of the chips of their nodes."""
    kinds = nodes.settings["Ec2Configuration"]
    neuron = bool(nodes.types) and all(instance_type.is_neuron for instance_type in nodes.types)
    chosen = any(not image.missing for image in nodes.images)
    for kind in (each["ImageType"] for each in kinds.items):
        text = kind.text or ""
        if neuron and text.endswith("_NVIDIA"):
            yield kind, f"got {text}, which is made for GPUs, for {nodes.types[0].name}", "ECS_AL2023"
    elsewhere = kinds.unknown or (nodes.template is None and not nodes.settings["LaunchTemplate"].missing)
    if nodes.in_batch and neuron and not chosen and not elsewhere:
        none = f"none of its own has the Neuron driver for {nodes.types[0].name}"
        allowed = "ImageIdOverride with an image that has the Neuron driver and EFA"
        yield kinds, f"AWS Batch chooses the image, and {none}", allowed


RECORDS: Final = (
    RuleRecord(
        "UC4215",
        "A compute environment launches the instance type for which its launch template was written.",
        remedy="Use the same type in both: the network cards of a launch template are those of one type.",
        source="AWS Batch user guide, launch templates: the types of the environment win.",
    ),
    RuleRecord(
        "UC4212",
        "A compute environment has enough vCPUs for at least one node.",
        remedy="Multiply the vCPUs of the type by the nodes.",
        source="EC2 DescribeInstanceTypes as moto 5.2.5 ships it: a trn2.48xlarge has 192 vCPUs.",
    ),
    RuleRecord(
        "UC4213",
        "The vCPUs of a compute environment are a multiple of those of a node.",
        severity=Severity.WARNING,
        remedy="Multiply the vCPUs of the type by the nodes.",
        source="The CDK's default of 256 vCPUs is one trn2.48xlarge (aws-cdk-lib 2.275.0).",
    ),
    RuleRecord(
        "UC4214",
        "No node runs before there are jobs.",
        severity=Severity.WARNING,
        remedy="Set MinvCpus to 0, unless the nodes are to wait for jobs.",
        source="AWS Batch user guide, compute environment parameters.",
    ),
    RuleRecord(
        "UC4216",
        "A compute environment names the version of its launch template.",
        severity=Severity.WARNING,
        remedy="Name the attribute LatestVersionNumber of the launch template, so that a new version updates the environment.",
        source="AWS Batch user guide, launch templates; aws/aws-cdk 28137.",
    ),
    RuleRecord(
        "UC4219",
        "The update of a compute environment ends no jobs.",
        remedy="Set ReplaceComputeEnvironment to false, and TerminateJobsOnUpdate to false with a JobExecutionTimeoutMinutes of days.",
        source="CloudFormation reference, AWS::Batch::ComputeEnvironment: replacing is the default.",
    ),
    RuleRecord(
        "UC4220",
        "Nodes of AWS Batch have permission to register with Amazon ECS.",
        remedy="Attach AmazonEC2ContainerServiceforEC2Role to the role of the nodes; the role that starts tasks has another policy.",
        source="https://github.com/dejonghe/aws-batch-example/issues/1, 2019-07; field case batch/ce-node-role-wrong-policy.",
    ),
    RuleRecord(
        "UC4224",
        "Nodes with Neuron chips have an image with their driver.",
        remedy="Name an AMI for Amazon ECS with the Neuron driver and EFA, in ImageIdOverride or in the launch template.",
        source="AWS Batch user guide, compute resource AMIs, 2026-11: no image type has the Neuron driver; awslabs/aws-batch-example and aws/aws-cdk#28819 on ECS Neuron images.",
    ),
)
