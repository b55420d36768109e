"""The network lets nodes reach the existing buckets that a cluster names."""

from collections.abc import Callable
from dataclasses import replace

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.job import Permissions, Statement
from ultracluster_stacks.stacks.network_stack import existing_buckets


def test_the_buckets_that_a_rollout_names_are_those_that_its_endpoints_let_through(
    configured: Callable[..., Cluster],
) -> None:
    config = configured(
        "checkpoints: {bucket_name: ours}",
        "datasets: [{name: c4, bucket_name: corpora}, {name: new}]",
    )
    statement = {"actions": ("s3:GetObject",), "resources": ("arn:aws:s3:::theirs/*", "arn:aws:sqs:a:b:q")}
    permissions = Permissions(statements=(Statement(**statement),))
    config = replace(
        config,
        network=replace(config.network, allowed_buckets=("shared",)),
        jobs=[replace(each, permissions=permissions) for each in config.jobs[:1]],
    )
    assert existing_buckets(config) == ["ours", "corpora", "theirs"]
