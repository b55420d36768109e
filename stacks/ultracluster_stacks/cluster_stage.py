"""One cluster of a rollout: three stacks in one Region."""

import aws_cdk as cdk
from constructs import Construct

from ultracluster.cluster_name import name_cluster
from ultracluster_stacks.cluster_stack import ClusterStack
from ultracluster_stacks.config import ClusterConfig
from ultracluster_stacks.network_stack import NetworkStack
from ultracluster_stacks.storage_stack import StorageStack

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
            f"{config.name}-{config.region}",
            env=cdk.Environment(account=config.account, region=config.region),
        )
        name_cluster(self, config.name)
        network = NetworkStack(self, "Network", config=config).network
        storage = StorageStack(self, "Storage", config=config, network=network)
        ClusterStack(self, "Cluster", config=config, network=network, storage=storage)
        for key, value in sorted({"ultracluster:cluster": config.name, **config.tags}.items()):
            cdk.Tags.of(self).add(key, value, exclude_resource_types=_TAGS_AT_CREATION)
