"""Write purchased capacity to a copy of the rollout, and verify that it was deployed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ultracluster_cli.deploy.cluster_state import Cluster
from ultracluster_cli.local.demo_purchase import Purchase
from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.config import ClusterConfig, RolloutConfig
from ultracluster_stacks.config.reading.problem import Loc
from ultracluster_stacks.config.reading.source_file import read_source_file
from ultracluster_stacks.config.reading.yaml_edit import set_values
from ultracluster_stacks.config.reading.yaml_source import read_yaml

__all__ = ["blocks_of", "require_bought", "write_copy"]

_HEADER = """# Written by `ultracluster demo`: {rollout} with Capacity Blocks that were bought on the local AWS
# with fake money. They do not exist in any account.
"""


def blocks_of(config: RolloutConfig) -> dict[Loc, ClusterConfig]:
    """Return the clusters in Capacity Blocks by their locations in the rollout.

    Raises:
        FindingsError: If there are none (UC9012).
    """
    blocks = {
        loc: cluster
        for loc, cluster in config.located_clusters()
        if cluster.capacity.market_type == "capacity-block"
    }
    if not blocks:
        problem = "no cluster of the rollout uses a Capacity Block"
        remedy = "Deploy it with `ultracluster deploy --local`"
        raise FindingsError.of("UC9012", problem, remedy=remedy)
    return blocks


def write_copy(rollout: Path, copy: Path, fragments: Mapping[Loc, Path]) -> None:
    """Write a copy of a rollout with purchased capacity, keeping everything else including comments.

    Args:
        rollout: Rollout file.
        copy: File to write.
        fragments: Output of `ultracluster capacity buy --write` by location of the cluster.

    Raises:
        FindingsError: If a file cannot be read.
    """
    values = {
        (*loc, *inner): value
        for loc, fragment in fragments.items()
        for inner, value in _leaves(read_yaml(fragment).values)
    }
    text = _HEADER.format(rollout=rollout.name) + set_values(read_source_file(rollout), values)
    copy.write_text(text, encoding="utf-8", newline="")


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[Loc, str]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from (((key, *inner), leaf) for inner, leaf in _leaves(value))
        else:
            yield (key,), str(value)


def require_bought(clusters: Sequence[Cluster], purchases: Sequence[Purchase]) -> None:
    """Check that the launch templates target exactly the purchased reservations.

    Raises:
        FindingsError: If they differ (UC9010).
    """
    targeted = sorted(
        cluster.reservation.id
        for cluster in clusters
        if cluster.reservation and cluster.reservation.market_type == "capacity-block"
    )
    reservation_ids = sorted(purchase.reservation_id for purchase in purchases)
    if targeted != reservation_ids:
        problem = f"bought {', '.join(reservation_ids)}, but the launch templates target {', '.join(targeted) or 'none'}"
        raise FindingsError.of("UC9010", problem)
