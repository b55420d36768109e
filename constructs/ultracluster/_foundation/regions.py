"""Regions of what an app passes to a cluster, as far as the app knows them."""

from collections.abc import Iterator, Mapping

from aws_cdk import IResource, Stack
from constructs import Construct

from ultracluster_spec.findings import Finding, is_token

_ELSEWHERE = "UC3180"
_BUCKET_ELSEWHERE = "UC3181"


def check_regions(
    scope: Construct,
    used: Mapping[str, IResource | str | None],
    *,
    buckets: Mapping[str, IResource | None],
) -> Iterator[Finding]:
    """Find keys and topics of another Region (UC3180), which nothing can use, and buckets (UC3181), which cost traffic.

    Args:
        scope: Construct of the cluster.
        used: Keys and topics, or their ARNs, by the names of their arguments.
        buckets: Buckets by the names of their arguments.
    """
    region = Stack.of(scope).region
    for path, given in (*used.items(), *buckets.items()):
        other = given.split(":")[3] if isinstance(given, str) else given.env.region if given else region
        if is_token(region) or is_token(other) or other == region:
            continue
        problem = f"it is in {other}, the cluster in {region}"
        if path in buckets:
            problem += (
                ": nodes without a NAT gateway do not reach it, and traffic across Regions is billed per GB"
            )
            yield Finding(_BUCKET_ELSEWHERE, problem, remedy=f"Use a bucket in {region}", path=path)
        else:
            yield Finding(_ELSEWHERE, problem, remedy=f"Use one in {region}", path=path)
