"""Rules about the machine of a cluster: figures of its own, scratch."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from ultracluster_rules.machines import (
    check_figures_are_sourced,
    check_job_ultraservers,
    check_scratch,
    check_whole_ultraservers,
)
from ultracluster_stacks.config.models.machine import machine_of
from ultracluster_stacks.config.reading.problem import Problem

if TYPE_CHECKING:
    from ultracluster_stacks.config.models.cluster import ClusterConfig

__all__ = ["RULES"]

_FILE_SYSTEM_PATH: Final = "/fsx"


def figures_have_a_source(cluster: "ClusterConfig") -> Iterator[Problem]:
    """Warn of figures that nobody has compared with EC2's."""
    for finding in check_figures_are_sourced(machine_of(cluster)):
        yield Problem(
            loc=("own_instance_type",), code=finding.code, problem=finding.problem, remedy=finding.remedy
        )


def scratch_has_disks_and_a_path(cluster: "ClusterConfig") -> Iterator[Problem]:
    """Scratch lies on instance-store disks, and hides nothing."""
    for finding in check_scratch(machine_of(cluster), cluster.scratch_path, mount_path=_FILE_SYSTEM_PATH):
        yield Problem(
            loc=("scratch_path",),
            code=finding.code,
            problem=finding.problem,
            allowed=finding.allowed,
            remedy=finding.remedy,
        )


def ultraservers_are_whole(cluster: "ClusterConfig") -> Iterator[Problem]:
    """Warn of nodes that are paid and not used; and refuse jobs whose nodes cannot be joined."""
    for finding in check_whole_ultraservers(machine_of(cluster), cluster.nodes):
        yield Problem(loc=("nodes",), code=finding.code, problem=finding.problem, allowed=finding.allowed)
    for index, job in enumerate(cluster.jobs):
        if job.kind != "multi-node":
            continue
        nodes = cluster.nodes if job.nodes is None else job.nodes
        for finding in check_job_ultraservers(machine_of(cluster), nodes):
            yield Problem(
                loc=("jobs", index, "nodes"),
                code=finding.code,
                problem=finding.problem,
                allowed=finding.allowed,
            )


RULES: Final[tuple[Callable[["ClusterConfig"], Iterator[Problem]], ...]] = (
    figures_have_a_source,
    scratch_has_disks_and_a_path,
    ultraservers_are_whole,
)
"""The rules in the order in which their problems are found."""
