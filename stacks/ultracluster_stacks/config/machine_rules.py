"""Rules about the machine of a cluster: figures of its own, scratch."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from ultracluster_catalog.instance_types import unsourced
from ultracluster_catalog.scratch import check_scratch
from ultracluster_stacks.config.machine import machine_of
from ultracluster_stacks.config.problem import Problem

if TYPE_CHECKING:
    from ultracluster_stacks.config.cluster import ClusterConfig

__all__ = ["RULES"]

_FILE_SYSTEM_PATH: Final = "/fsx"


def figures_have_a_source(cluster: "ClusterConfig") -> Iterator[Problem]:
    """Warn of figures that nobody has compared with EC2's."""
    for finding in unsourced(machine_of(cluster)):
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


RULES: Final[tuple[Callable[["ClusterConfig"], Iterator[Problem]], ...]] = (
    figures_have_a_source,
    scratch_has_disks_and_a_path,
)
"""The rules in the order in which their problems are found."""
