"""One cluster of a rollout: three stacks in one Region."""

import aws_cdk as cdk
from aws_cdk import aws_batch as batch
from constructs import Construct

import ultracluster  # attributes of ultracluster are imported lazily
from ultracluster._foundation.cluster_name import name_cluster, tag_resources
from ultracluster._foundation.synthesis_check import leave_unchecked
from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config.rehearsal import REHEARSAL_TAG, RehearsedCluster
from ultracluster_stacks.stacks.cluster_stack import ClusterStack
from ultracluster_stacks.stacks.network_stack import NetworkStack
from ultracluster_stacks.stacks.storage_stack import StorageStack

_BY_HAND = (
    "`cdk deploy` does not stop changes that lose data or end jobs; check them with `ultracluster plan`, "
    "or use `ultracluster deploy`"
)

_OF_THE_FILE = dict.fromkeys(
    ("ultracluster:UC4152", "ultracluster:UC6180"), "`validate` and `plan` say it with its line"
)


class ClusterStage(cdk.Stage):
    """The stacks of one cluster, named ``<cluster>-<region>-Network``, ``-Storage`` and ``-Cluster``.

    The wave is not part of the construct path, so a cluster can move to another wave unchanged.
    """

    def __init__(self, scope: Construct, *, config: Cluster) -> None:
        """Define the stacks."""
        super().__init__(
            scope,
            config.stage,
            env=cdk.Environment(account=config.account, region=config.region),
            permissions_boundary=_boundary(config.permissions_boundary),
        )
        # The CDK sorts ARNs of merged statements while they are unresolved tokens with random numbers, so the order of
        # exports would differ between runs.
        self.node.set_context("@aws-cdk/aws-iam:minimizePolicies", value=False)
        if config.role_path is not None:
            cdk.Aspects.of(self).add(ultracluster.RolePath(config.role_path))
        suppressed = {f"ultracluster:{code}": reason for code, reason in config.suppress.items()}
        for name, reason in sorted((_OF_THE_FILE | suppressed).items()):
            cdk.Validations.of(self).acknowledge(cdk.Acknowledgment(id=name, reason=reason))
        name_cluster(self, config.name)
        network_stack = NetworkStack(self, "Network", config=config)
        cdk.Annotations.of(network_stack).add_info(_BY_HAND)
        network = network_stack.network
        storage = StorageStack(self, "Storage", config=config, network=network)
        ClusterStack(self, "Cluster", config=config, network=network, storage=storage)
        if config.removal_policy == "destroy":
            cdk.RemovalPolicies.of(self).destroy()
        if isinstance(config, RehearsedCluster):
            self._rehearse(config.name)
        tag_resources(self, config.name, config.tags)

    def _rehearse(self, name: str) -> None:
        """Make nodes impossible, retain nothing, and tag everything, stacks too, for the removal."""
        from aws_cdk import aws_autoscaling as autoscaling  # noqa: PLC0415 - slow to import

        for construct in self.node.find_all():
            if isinstance(construct, cdk.Stack):
                construct.add_stack_tag(REHEARSAL_TAG, name)
            if isinstance(construct, batch.CfnComputeEnvironment) and construct.type == "MANAGED":
                # Without a job, nothing scales out, and BEST_FIT starts no node larger than maxvCpus
                # (aws/aws-parallelcluster#929). The checks disable environments before they submit a job; AWS Batch refuses to
                # create one that is disabled ("A compute environment must be created in the ENABLED state", its API reference).
                construct.add_property_override("ComputeResources.MinvCpus", 0)
                construct.add_property_override("ComputeResources.MaxvCpus", 1)
            if isinstance(construct, autoscaling.CfnAutoScalingGroup):
                construct.max_size = "0"
        # Rules find that no node starts and that nothing is retained. `validate` has judged the cluster itself.
        stacks = {each.node.path for each in self.node.find_all() if isinstance(each, cdk.Stack)}
        leave_unchecked(self.node.root, stacks)
        cdk.RemovalPolicies.of(self).destroy()
        cdk.Tags.of(self).add(REHEARSAL_TAG, name)


def _boundary(policy: str | None) -> cdk.PermissionsBoundary | None:
    if policy is None:
        return None
    if policy.startswith("arn:"):
        return cdk.PermissionsBoundary.from_arn(policy)
    return cdk.PermissionsBoundary.from_name(policy)
