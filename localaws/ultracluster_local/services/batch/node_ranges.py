"""Ranges of the nodes of a multi-node parallel job, such as ``0:3``, ``:3`` and ``4:``: API_NodeRangeProperty."""

import re
from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.state import refused

__all__ = ["check_node_properties", "nodes_of"]

_RANGE = re.compile(r"(\d*):(\d*)|(\d+)")


def nodes_of(target: str, count: int) -> range:
    """Return the node indexes of a range.

    Args:
        target: Range.
        count: Number of nodes.

    Raises:
        ServiceError: If it is no range of these nodes.
    """
    match = _RANGE.fullmatch(target)
    if not match:
        raise refused("targetNodes should contain only digits.")
    if match[3]:
        first = last = int(match[3])
    else:
        first, last = int(match[1] or 0), int(match[2]) if match[2] else count - 1
    if first > last or last >= count:
        raise refused(f"targetNodes {target} is not a valid node range of {count} nodes")
    return range(first, last + 1)


def check_node_properties(nodes: Mapping[str, Any]) -> list[range]:
    """Refuse invalid node properties of a job definition; return the nodes of each range.

    Raises:
        ServiceError: If they are invalid.
    """
    count, main, ranges = nodes["numNodes"], nodes["mainNode"], nodes.get("nodeRangeProperties") or []
    if not 0 <= main < count:  # this and the digits: badmintoncryer/cdk-preflight
        raise refused("Main node index is out of range, must be less than numNodes.")
    if not ranges:
        raise refused("nodeRangeProperties must be provided for a multinode job definition")
    found = [nodes_of(one["targetNodes"], count) for one in ranges]
    missing = sorted(set(range(count)).difference(*found))
    if missing:
        raise refused(
            f"The accumulative node ranges must account for all nodes (0:{count - 1}); missing: {missing[0]}"
        )
    types = {name for one in ranges for name in _instance_types(one)}
    if len(types) > 1:  # API_ContainerProperties, instanceType
        raise refused("All node groups in a multi-node parallel job must use the same instance type")
    return found


def _instance_types(node_range: Mapping[str, Any]) -> list[str]:
    listed: list[str] = node_range.get("instanceTypes") or []
    own = (node_range.get("container") or {}).get("instanceType")
    return [*listed, own] if own else listed
