"""Plans a deployment: synthesize, read what is there, compare."""

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ultracluster_cli._aws.cluster_targets import targets_by_profile
from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli._aws.targets import account, running_local_aws
from ultracluster_cli._cdk.cdk_synthesis import synthesize_into
from ultracluster_cli._cdk.toolchain import find_toolchain
from ultracluster_cli._cdk.workspace import rollout_file, run_directory, state_directory
from ultracluster_cli.output import print_findings, print_json
from ultracluster_cli.plan.costs import planned_clusters, planned_clusters_json, planned_lines
from ultracluster_cli.plan.output import plan_json, plan_markdown, print_plan
from ultracluster_cli.plan.picture import draw_plan
from ultracluster_cli.plan.stacks import AssembledStack, assembled_stacks, deployed_by_target, deployed_stacks
from ultracluster_rules.findings import Finding, FindingsError, Severity, quote
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.plan import Plan, StackTemplate, check_headroom, compare, headroom

__all__ = ["check_allowed", "check_limits", "plan_rollout"]


def plan_rollout(
    *,
    directory: Path,
    rollout: Path | None,
    against: Path | None,
    local: bool,
    wave: str | None,
    allowed: Sequence[str],
    form: Literal["text", "json", "markdown"],
    picture: Path | None = None,
) -> bool:
    """Print what a deployment would do, and return whether it is stopped.

    Args:
        directory: Folder of the CDK app.
        rollout: The rollout file. None for the one that cdk.json names.
        against: A saved cloud assembly. None for what is deployed.
        local: What is deployed in the local AWS in the background, instead of a real account.
        wave: Name of the one wave to plan. None for all.
        allowed: Words of what is allowed to happen.
        form: How to print it.
        picture: SVG file to draw the clusters into. Default: none is drawn.

    Raises:
        FindingsError: If the rollout is wrong, a tool is missing, cdk synth fails, what is there cannot be read, or
            `allowed` names what does not stop the plan.
    """
    rollout = rollout_file(directory, rollout)
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    clusters = clusters_of(loaded.config, wave)
    toolchain = find_toolchain(directory)
    state = state_directory(directory)
    target = running_local_aws(background=state / "local", region=clusters[0].region) if local else None
    with run_directory(state) as temporary:
        synthesize_into(
            temporary / "plan",
            toolchain=toolchain,
            directory=directory,
            rollout=rollout,
            wave=wave,
            temporary=temporary,
            environment=target.environment if target else os.environ,
        )
        new = assembled_stacks(temporary / "plan")
        if against is not None:
            before, compared_with = [one.stack for one in assembled_stacks(against)], str(against)
            before = _of_wave(before, new) if wave else before
        elif target is not None:
            before, compared_with = deployed_stacks(new, client=target.client, account=None), target.name
        else:
            with targets_by_profile(clusters, account) as targets:
                before, compared_with = deployed_by_target(new, targets), targets.name
        plan = compare(before, [one.stack for one in new])
    costs = planned_clusters(before, [one.stack for one in new], clusters)
    check_allowed(plan, allowed)
    check_limits([one.stack for one in new])
    if picture is not None:
        draw_plan(plan, [one.stack for one in new], picture)
    if form == "json":
        fullest = [dataclasses.asdict(each) for each in headroom([one.stack for one in new])]
        print_json(
            plan_json(plan, against=compared_with, allowed=allowed)
            | {"headroom": fullest, "clusters": planned_clusters_json(costs)}
        )
    elif form == "markdown":
        print(plan_markdown(plan, against=compared_with, allowed=allowed))  # noqa: T201 - this is the output
        print("\n".join(f"- {line}" for line in planned_lines(costs)))  # noqa: T201
    else:
        print_plan(plan, against=compared_with, allowed=allowed)
        print("\n".join(planned_lines(costs)))  # noqa: T201
        fullest_stacks = "; ".join(str(each) for each in headroom([one.stack for one in new]))
        print(f"Fullest stacks: {fullest_stacks}")  # noqa: T201 - part of the output
    return plan.stopped(allowed)


def _of_wave(before: list[StackTemplate], new: list[AssembledStack]) -> list[StackTemplate]:
    """Leave out clusters of other waves, which are no part of the plan and not gone."""
    planned = {one.stack.cluster for one in new}
    return [one for one in before if one.cluster in planned]


def check_limits(stacks: Sequence[StackTemplate]) -> None:
    """Refuse what CloudFormation would refuse in the middle of a deployment, and warn of stacks that are nearly full.

    Args:
        stacks: The stacks.

    Raises:
        FindingsError: If a stack is too large (UC9650).
    """
    findings = check_headroom(stacks)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise FindingsError(findings)
    print_findings(findings)


def check_allowed(plan: Plan, allowed: Sequence[str]) -> None:
    """Refuse what names nothing: a word that no longer fits may stand for something that has changed since.

    Args:
        plan: The plan.
        allowed: Words of what is allowed to happen.

    Raises:
        FindingsError: If a word names nothing that stops the plan (UC9203).
    """
    known = sorted({stop.allow for stop in plan.stops() if stop.allow})
    findings = [
        Finding(
            code="UC9203",
            problem=f"got --allow {quote(word)}, and nothing of this name stops the plan",
            allowed=", ".join(known) or "no --allow, since nothing stops the plan that could be allowed",
        )
        for word in allowed
        if word not in known
    ]
    if findings:
        raise FindingsError(findings)
