"""Describe the last rehearsals of clusters."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from ultracluster_cli._aws.target import Target
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.rollout.rehearsal_record import cluster_digest, read_rehearsal
from ultracluster_spec.cluster import Cluster


def rehearsals_of(cluster: Cluster, target: Target) -> list[str]:
    """Return a sentence about the last rehearsal of a cluster in its Region; see `describe_rehearsals`."""
    digests = {cluster.region: cluster_digest(cluster)}
    sources = [capacity for _, capacity in cluster.sources()]
    bought = all(source.reservation_id for source in sources if source.market_type == "capacity-block")
    ssm = partial(target.client, "ssm")
    return describe_rehearsals(cluster.name, digests, ssm=ssm, digests=digests, bought=bought)


def describe_rehearsals(
    cluster: str,
    regions: Iterable[str],
    *,
    ssm: Callable[[str], Any],
    digests: Mapping[str, str] = MappingProxyType({}),
    bought: bool = False,
) -> list[str]:
    """Return a sentence for each Region in which a cluster was rehearsed, or one that it never was.

    ``digests`` are those of the cluster's configuration by Region. Default: the version is not compared.
    ``bought`` says whether its capacity is there already.
    """
    never: list[str] = []
    sentences: list[str] = []
    for region in regions:
        try:
            rehearsal = read_rehearsal(ssm(region), cluster)
        except AWS_ERRORS as error:
            sentences.append(f"The last rehearsal of {cluster} in {region} could not be read: {error}")
            continue
        if rehearsal is None:
            never.append(region)
        else:
            _, text = rehearsal.describe(digests.get(region))
            sentences.append(f"{cluster} in {region} was {text}.")
    if never and not sentences:
        places = ", ".join(never)
        command = "`ultracluster deploy ROLLOUT --without-capacity`"
        advice = f"{command} tests all but the capacity" if bought else f"run {command} before the purchase"
        return [f"{cluster} was never rehearsed in {places}: {advice}."]
    return sentences
