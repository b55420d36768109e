"""AWS Batch unmanaged compute environment, and the ECS cluster that its nodes join."""

from aws_cdk import CfnResource, Duration
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster._foundation.permissions import allow
from ultracluster._foundation.scheduled_function import ScheduledFunction
from ultracluster.nodes.node_group import JoinedCluster


class UnmanagedEnvironment(Construct):
    """A compute environment that starts no nodes: jobs run on what joins its ECS cluster.

    Multi-node parallel jobs do not run on it (AWS Batch User Guide, mnp-ce, read 2026-11).
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, max_vcpus: int, kms_key: kms.IKey | None = None
    ) -> None:
        """Define the environment, with the vCPUs of all nodes, from which fair shares reserve for new identifiers.

        The key is that of the log group of the function that reads the cluster.
        """
        super().__init__(scope, construct_id)
        # The service-linked role is made for managed environments only (API reference of CreateComputeEnvironment).
        role = iam.Role(
            self,
            "ServiceRole",
            assumed_by=iam.ServicePrincipal("batch.amazonaws.com"),
            description="How AWS Batch places jobs on the nodes of the cluster",
            managed_policies=[
                iam.ManagedPolicy.from_aws_managed_policy_name("service-role/AWSBatchServiceRole")
            ],
        )
        environment = batch.CfnComputeEnvironment(
            self,
            "Resource",
            type="UNMANAGED",
            state="ENABLED",
            service_role=role.role_arn,
            unmanagedv_cpus=max_vcpus,
            # Its creation only: an update changes nothing that would need another environment.
            replace_compute_environment=False,
        )
        self._arn = environment.attr_compute_environment_arn
        function = ScheduledFunction(
            self,
            description="Names the ECS cluster of a compute environment to its nodes",
            role_description="Reads which ECS cluster a compute environment has",
            policy_name="ReadCluster",
            statements=[
                # The action cannot be limited to one environment.
                allow("ReadCluster", ["batch:DescribeComputeEnvironments"], ["*"])
            ],
            handler="ultracluster_runtime.functions.ecs_cluster.handler",
            environment={},
            timeout=Duration.minutes(1),
            kms_key=kms_key,
        )
        cluster = CfnResource(
            self,
            "Cluster",
            type="Custom::UltraClusterEcsCluster",
            properties={"ServiceToken": function.function_arn, "ComputeEnvironment": self._arn},
        )
        self._cluster = cluster.get_att("Arn").to_string()

    @property
    def cluster(self) -> JoinedCluster:
        """Cluster for nodes to join, known before any of them starts."""
        return JoinedCluster(compute_environment_arn=self._arn, ecs_cluster_arn=self._cluster)
