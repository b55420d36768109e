"""Report before a purchase whether its cluster was rehearsed."""

from pathlib import Path

from botocore.config import Config

from ultracluster_cli._aws.rehearsals import describe_rehearsals
from ultracluster_cli.capacity.session import Session
from ultracluster_cli.output import say
from ultracluster_runtime.purchasing.orders import BlockOrder, OnDemandOrder, Order
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.rehearsal import cluster_digest

_CONFIG = Config(retries={"total_max_attempts": 2, "mode": "standard"}, connect_timeout=5, read_timeout=10)


def say_rehearsals(order: Order, session: Session, rollout: Path | None) -> None:
    """Print the last rehearsals of an order's cluster, except for an extension, whose cluster is deployed.

    Without a rollout file, the rehearsed version is not compared.
    """
    if isinstance(order, BlockOrder):
        regions = order.regions
    elif isinstance(order, OnDemandOrder):
        regions = (order.region,)
    else:
        return
    clusters = load_rollout(rollout, deployable=False).config.clusters() if rollout else []
    digests = {
        cluster.region: cluster_digest(cluster) for cluster in clusters if cluster.name == order.cluster
    }
    for sentence in describe_rehearsals(
        order.cluster,
        regions,
        ssm=lambda region: session.make_client("ssm", region, _CONFIG),
        digests=digests,
    ):
        say(sentence)
