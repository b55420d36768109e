"""UltraServers: how many of their instances work together.

Source: Neuron documentation, "How to schedule MPI jobs to run on Neuron UltraServer on EKS" (2.29 to 2.33, read November 2026),
whose script joins groups of 1, 2 or 4 trn2u nodes and refuses others.
"""

from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_rules.findings import Finding, quote

__all__ = ["check_job_ultraservers", "check_whole_ultraservers"]

_PARTS: Final = (1, 2)


def check_job_ultraservers(instance_type: InstanceType, nodes: int) -> list[Finding]:
    """Find out whether a job's nodes can be joined.

    Args:
        instance_type: Type of the nodes.
        nodes: Nodes of the job.

    Returns:
        UC4028 for a number that is neither a part nor whole UltraServers; empty outside UltraServers.
    """
    whole = instance_type.instances_per_ultraserver
    if whole == 1 or nodes in _PARTS or nodes % whole == 0:
        return []
    return [
        Finding(
            code="UC4028",
            problem=f"got {quote(nodes)} nodes of {instance_type.name}, which are joined as UltraServers of {whole}",
            allowed=f"1, 2, or a multiple of {whole}",
            path="node_count",
        )
    ]


def check_whole_ultraservers(instance_type: InstanceType, nodes: int) -> list[Finding]:
    """Find out whether a cluster leaves a part of an UltraServer unused, which is paid as a whole.

    Args:
        instance_type: Type of the nodes.
        nodes: Most nodes of the cluster.

    Returns:
        UC4029, a warning, unless the nodes are whole UltraServers; empty outside UltraServers.
    """
    whole = instance_type.instances_per_ultraserver
    if nodes % whole == 0:
        return []
    return [
        Finding(
            code="UC4029",
            problem=f"got {quote(nodes)} nodes of {instance_type.name}; an UltraServer has {whole}, and is sold and "
            "paid as a whole",
            allowed=f"a multiple of {whole}",
            path="node_count",
        )
    ]
