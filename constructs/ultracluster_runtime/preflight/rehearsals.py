"""Check that a cluster that is not deployed yet was rehearsed as it is now written."""

from typing import Final

from ultracluster_runtime.preflight.check import Outcome, check, passed, skipped, warned
from ultracluster_runtime.preflight.quotas import is_deployed
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.rollout.rehearsal_record import cluster_digest, parameter_name, parse_rehearsal
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.record import RuleRecord

REHEARSED: Final = "UC9461"  # code of the check that a cluster was rehearsed
_DEPLOYED: Final = "deployed"


def _record(reader: AwsReader, cluster: Cluster) -> str | None:
    """Return the text of the record, `_DEPLOYED` for a cluster that needs none, or None."""
    if is_deployed(reader, cluster.region, cluster.stacks[2]):
        return _DEPLOYED
    answer = reader.call_or_none(
        "ssm:GetParameter",
        cluster.region,
        absent=("ParameterNotFound",),
        Name=parameter_name(cluster.name),
    )
    return None if answer is None else str(answer["Parameter"]["Value"])


@check(REHEARSED, _record, subjects=lambda account: account.clusters)
def _check(cluster: Cluster, record: str | None) -> Outcome:
    if record == _DEPLOYED:
        return skipped("the cluster is deployed")
    rehearsal = None if record is None else parse_rehearsal(record)
    when = (
        "before the first job"
        if any(capacity.reservation_id for _, capacity in cluster.sources())
        else "before the purchase"
    )
    remedy = f"Run `ultracluster deploy ROLLOUT --without-capacity` {when}"
    if rehearsal is None:
        return warned(f"{cluster.name} was never rehearsed in {cluster.region}", remedy)
    sound, text = rehearsal.describe(cluster_digest(cluster))
    return passed(text) if sound else warned(text, remedy)


RECORDS: Final = (
    RuleRecord(
        "UC9461",
        "A cluster that is not deployed has been rehearsed in its current version.",
        remedy="Run `ultracluster deploy ROLLOUT --without-capacity` before the purchase.",
        source="Our decision 0023: what AWS refuses is learned before paid hours begin.",
    ),
)
