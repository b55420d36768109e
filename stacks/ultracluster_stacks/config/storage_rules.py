"""Rules about a cluster's file system; the catalogue knows them."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from ultracluster_catalog.lustre import check_file_system
from ultracluster_stacks.config.problem import Problem

if TYPE_CHECKING:
    from ultracluster_stacks.config.cluster import ClusterConfig

__all__ = ["RULES"]


def file_system_exists(cluster: "ClusterConfig") -> Iterator[Problem]:
    """FSx sells only certain sizes and throughputs."""
    for finding in check_file_system(
        deployment_type="PERSISTENT_2",
        storage_capacity_gib=cluster.file_system.storage_capacity_gib,
        per_unit_storage_throughput=cluster.file_system.per_unit_storage_throughput,
        metadata_iops=cluster.file_system.metadata_iops,
    ):
        yield Problem(
            loc=("file_system", finding.path) if finding.path else ("file_system",),
            code=finding.code,
            problem=finding.problem,
            allowed=finding.allowed,
            remedy=finding.remedy,
        )


RULES: Final[tuple[Callable[["ClusterConfig"], Iterator[Problem]], ...]] = (file_system_exists,)
"""The rules in the order in which their problems are found."""
