"""Compute environments and job queues: whole nodes, one pinned launch template, updates that do not end jobs."""

from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.limits.queues import WAIT_LIMIT_REASONS
from ultracluster_checks.joined.permissions import may
from ultracluster_checks.machines import (
    COMPUTE_ENVIRONMENT,
    compute_environments,
    environment_types,
    instance_type_names,
    is_block,
    launch_data,
    launch_template_of,
)
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import TEMPLATE_VERSION, TYPE_OF_THE_TEMPLATE
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.findings import quote
from ultracluster_rules.queues import check_environment_count, check_wait_limits

QUEUE: Final = "AWS::Batch::JobQueue"
_MOVING: Final = ("$Latest", "$Default")
# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/instance_IAM_role.html (2026-11)
_JOINING: Final = (
    "ecs:DiscoverPollEndpoint",
    "ecs:Poll",
    "ecs:RegisterContainerInstance",
    "ecs:SubmitTaskStateChange",
)


def environments_hold_whole_nodes(templates: Templates) -> Iterator[Problem]:
    """Find environments whose vCPU limits hold no node, part of a node, or idle nodes."""
    for environment, resources in compute_environments(templates):
        least, most = resources["MinvCpus"], resources["MaxvCpus"]
        if least.number is not None and most.number is not None and least.number > most.number:
            yield Problem.of(
                least, "UC4211", f"got {least.number}, and MaxvCpus is {most.number}", "MaxvCpus or less"
            )
        machines = environment_types(environment)
        if not machines:
            continue
        if least.number:
            yield Problem.of(
                least,
                "UC4214",
                f"{least.number} vCPUs run and are billed without jobs",
                "0",
            )
        if most.number is None:
            continue
        smallest = min(machine.vcpus for machine in machines)
        if most.number < smallest:
            yield Problem.of(
                most,
                "UC4212",
                f"got {most.number}, and one {machines[0].name} has {smallest} vCPUs, so that no node starts",
                f"{smallest} for each node",
            )
        elif len(machines) == 1 and most.number % smallest:
            nodes = most.number // smallest
            yield Problem.of(
                most,
                "UC4213",
                f"got {most.number}, which is {nodes} {'node' if nodes == 1 else 'nodes'} of {smallest} vCPUs and a rest",
                f"{smallest} for each node",
                "256 is the default of AWS Batch and the CDK" if most.number == 256 else "",  # noqa: PLR2004
            )


def types_match_their_launch_template(templates: Templates) -> Iterator[Problem]:
    """Find environments whose instance type differs from that of their launch template."""
    for environment in templates.of_type(COMPUTE_ENVIRONMENT):
        template, names = launch_template_of(environment), instance_type_names(environment)
        own = launch_data(template)["InstanceType"] if template else None
        if template is None or names is None or own is None or own.text is None:
            continue
        if any(name.text != own.text for name in names):
            yield Problem.of(
                environment["ComputeResources"]["InstanceTypes"],
                TYPE_OF_THE_TEMPLATE,
                f"got {', '.join(str(name.text) for name in names)}; {template.logical_id} is made for {own.text}, with its "
                "network cards",
                own.text,
            )


def launch_template_versions_are_pinned(templates: Templates) -> Iterator[Problem]:
    """Find environments that do not pin the version of their launch template."""
    for _, resources in compute_environments(templates):
        at, version = resources["LaunchTemplate"], resources["LaunchTemplate"]["Version"]
        if at.missing or isinstance(at.value, Unknown):
            continue
        if version.missing or version.text in _MOVING:
            got = "no version, which is $Default" if version.missing else quote(version.text)
            yield Problem.of(
                version,
                TEMPLATE_VERSION,
                f"got {got}: AWS Batch resolves the version once, at creation, and CloudFormation sees "
                "no change when the template changes",
                "the LatestVersionNumber of the launch template",
            )


def environments_can_be_updated(templates: Templates) -> Iterator[Problem]:
    """Find environments that AWS Batch can neither update in place nor replace."""
    for environment, resources in compute_environments(templates):
        strategy, replaced = resources["AllocationStrategy"], environment["ReplaceComputeEnvironment"]
        template = launch_template_of(environment)
        market = (
            launch_data(template)["InstanceMarketOptions"]["MarketType"]
            if template
            else resources["LaunchTemplate"]
        )
        elsewhere = template is None and not resources["LaunchTemplate"].missing
        block = (
            elsewhere
            or isinstance(market.value, Unknown)
            or (template is not None and is_block(launch_data(template)))
        )
        kept = replaced.flag is False
        if _is_best_fit(resources) and (kept or not block):
            yield Problem.of(
                strategy,
                "UC4217",
                f"got {quote(strategy.text) if strategy.text else 'none, which is BEST_FIT'}"
                + (
                    " and ReplaceComputeEnvironment: false; AWS Batch refuses a new launch template or AMI"
                    if kept
                    else "; with it the environment is replaced where others are updated"
                ),
                "ReplaceComputeEnvironment: true, the default"
                if block
                else "SPOT_PRICE_CAPACITY_OPTIMIZED or SPOT_CAPACITY_OPTIMIZED"
                if resources["Type"].text == "SPOT"
                else "BEST_FIT_PROGRESSIVE",
            )
        name = environment["ComputeEnvironmentName"]
        if not name.missing and not isinstance(name.value, Unknown):
            yield Problem.of(
                name,
                "UC4218",
                f"got {quote(name.pattern)}; a change that replaces the environment then fails, since two of one name cannot "
                "exist",
                "no name",
            )


def _is_best_fit(resources: Property) -> bool:
    return resources["AllocationStrategy"].text == "BEST_FIT" or resources["AllocationStrategy"].missing


def updates_spare_jobs(templates: Templates) -> Iterator[Problem]:
    """Find environments whose update ends running jobs."""
    for environment, resources in compute_environments(templates):
        replaced = environment["ReplaceComputeEnvironment"]
        if resources["LaunchTemplate"].missing:
            continue  # no EFA without a launch template
        strategy = resources["AllocationStrategy"]
        if (replaced.missing or replaced.flag) and strategy.text not in {None, "BEST_FIT"}:
            yield Problem.of(
                replaced,
                "UC4219",
                "most updates replace the environment, and the jobs on it end",
                "ReplaceComputeEnvironment: false",
            )
        ends = environment["UpdatePolicy"]["TerminateJobsOnUpdate"]
        if ends.flag:
            yield Problem.of(ends, "UC4219", "an update of the nodes ends the jobs on them", "false")


def queues_have_few_environments(templates: Templates) -> Iterator[Problem]:
    """Find queues with more compute environments than AWS Batch allows."""
    for queue in templates.of_type(QUEUE):
        at = queue["ComputeEnvironmentOrder"]
        for finding in check_environment_count(len(at.certain)) if at.items else ():
            yield Problem(at, finding)


def waiting_jobs_are_not_cancelled(templates: Templates) -> Iterator[Problem]:
    """Find time limits that cancel jobs waiting for their reservation to start."""
    names = {reason: name for name, reason in WAIT_LIMIT_REASONS.items()}
    for queue in templates.of_type(QUEUE):
        sources = [launch_template_of(environment) for environment in _environments(queue)]
        data = [launch_data(source) for source in sources if source is not None]
        block = any(is_block(each) for each in data)
        reserved = any(not each["CapacityReservationSpecification"].missing for each in data)
        for action in queue["JobStateTimeLimitActions"].items:
            limit = names.get(action["Reason"].text or "")
            for finding in check_wait_limits(
                [limit] if limit else [], block=block, reserved=reserved, path=""
            ):
                yield Problem(action, finding)


def _environments(queue: Resource) -> list[Resource]:
    found = [item["ComputeEnvironment"].target for item in queue["ComputeEnvironmentOrder"].items]
    return [each for each in found if each is not None and each.type == COMPUTE_ENVIRONMENT]


def nodes_can_join(templates: Templates) -> Iterator[Problem]:
    """Find environments whose nodes may not register with Amazon ECS."""
    for environment, resources in compute_environments(templates):
        profile = resources["InstanceRole"].target
        roles = [each.target for each in profile["Roles"].items] if profile is not None else []
        role = roles[0] if roles else None
        if (
            role is None
            or not environment["EksConfiguration"].missing
            or not (lacking := [action for action in _JOINING if not may(role, action)])
        ):
            continue
        yield Problem.of(
            resources["InstanceRole"],
            "UC4220",
            f"{role.logical_id} does not allow {', '.join(lacking)}: nodes start, are billed and never join, and jobs stay "
            "RUNNABLE",
            "the managed policy AmazonEC2ContainerServiceforEC2Role, or its actions by name",
        )
