"""Rules about the instance type of a cluster: custom properties, scratch, UltraServers."""

from collections.abc import Callable, Iterator
from typing import Final

from ultracluster_rules.machines import (
    check_figures_are_sourced,
    check_job_ultraservers,
    check_scratch,
    check_whole_ultraservers,
)
from ultracluster_stacks.config.models.cluster import ClusterConfig
from ultracluster_stacks.config.reading.problem import Problem

_FILE_SYSTEM_PATH: Final = "/fsx"


def figures_have_a_source(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn about custom properties that were not compared with EC2."""
    for finding in check_figures_are_sourced(cluster.machine):
        yield Problem(("custom_instance_type",), finding)


def scratch_has_disks_and_a_path(cluster: ClusterConfig) -> Iterator[Problem]:
    """Refuse scratch without instance-store disks, and mount points that would hide files."""
    for finding in check_scratch(cluster.machine, cluster.scratch_path, mount_path=_FILE_SYSTEM_PATH):
        yield Problem(("scratch_path",), finding)


def ultraservers_are_whole(cluster: ClusterConfig) -> Iterator[Problem]:
    """Warn about paid UltraServer instances that are not used, and refuse jobs whose nodes cannot be joined."""
    for finding in check_whole_ultraservers(cluster.machine, cluster.nodes):
        yield Problem(("nodes",), finding)
    for index, job in enumerate(cluster.jobs):
        if job.kind != "multi-node":
            continue
        nodes = cluster.nodes if job.nodes is None else job.nodes
        for finding in check_job_ultraservers(cluster.machine, nodes):
            yield Problem(("jobs", index, "nodes"), finding)


RULES: Final[tuple[Callable[[ClusterConfig], Iterator[Problem]], ...]] = (
    figures_have_a_source,
    scratch_has_disks_and_a_path,
    ultraservers_are_whole,
)
"""The rules in the order in which their problems are found."""
