"""One cluster of a rollout: three stacks in one Region."""

import aws_cdk as cdk
from constructs import Construct

import ultracluster  # by its full name, what few clusters have is imported when one has it
from ultracluster._foundation.cluster_name import name_cluster
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.stacks.cluster_stack import ClusterStack
from ultracluster_stacks.stacks.network_stack import NetworkStack
from ultracluster_stacks.stacks.storage_stack import StorageStack

__all__ = ["ClusterStage"]

# Tags of these types can only be set at creation: adding one later would replace the resource.
_TAGS_AT_CREATION = ["AWS::Batch::ComputeEnvironment", "AWS::EC2::PlacementGroup"]


class ClusterStage(cdk.Stage):
    """The stacks of one cluster, named ``<cluster>-<region>-Network``, ``-Storage`` and ``-Cluster``.

    The wave is no part of the construct path, so that a cluster can be moved to another wave unchanged.
    """

    def __init__(self, scope: Construct, *, config: ClusterConfig) -> None:
        """Define the stacks.

        Args:
            scope: The app.
            config: The cluster.
        """
        super().__init__(
            scope,
            config.stage,
            env=cdk.Environment(account=config.account, region=config.region),
            permissions_boundary=_boundary(config.permissions_boundary),
        )
        # The CDK merges statements and sorts their ARNs while these are still tokens, whose numbers begin at random: the exports
        # behind them would come in another order in some runs, and the same rollout would not give the same bytes.
        self.node.set_context("@aws-cdk/aws-iam:minimizePolicies", value=False)
        if config.role_path is not None:
            cdk.Aspects.of(self).add(ultracluster.RolePath(config.role_path))
        for code, reason in sorted(config.suppress.items()):
            rule = cdk.Acknowledgment(id=f"ultracluster:{code}", reason=reason)
            cdk.Validations.of(self).acknowledge(rule)
        name_cluster(self, config.name)
        network = NetworkStack(self, "Network", config=config).network
        storage = StorageStack(self, "Storage", config=config, network=network)
        ClusterStack(self, "Cluster", config=config, network=network, storage=storage)
        for key, value in sorted({CLUSTER_TAG: config.name, **config.tags}.items()):
            cdk.Tags.of(self).add(key, value, exclude_resource_types=_TAGS_AT_CREATION)


def _boundary(policy: str | None) -> cdk.PermissionsBoundary | None:
    if policy is None:
        return None
    named = (
        cdk.PermissionsBoundary.from_arn if policy.startswith("arn:") else cdk.PermissionsBoundary.from_name
    )
    return named(policy)
