"""AWS Batch job queue for SageMaker training jobs, with a quota for each team."""

from collections.abc import Mapping, Sequence

from aws_cdk import Aws, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster._foundation.permissions import allow, grant, never
from ultracluster.sagemaker.quota_share import QuotaShare, check_instances, check_plan, check_shares
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import reject

_LOG_GROUP = "/aws/sagemaker/TrainingJobs"  # shared by all SageMaker training jobs of an account
_NAMESPACE = "/aws/sagemaker/TrainingJobs"


class SageMakerTrainingQueue(Construct):
    """A job queue for SageMaker training jobs, limited to the given instance types.

    AWS Batch holds jobs until their share has capacity, and SageMaker then launches the instances; a deployment launches
    none. Waiting jobs have no time limit, because it would also cancel those that wait for a training plan to start.
    """

    execution_role: iam.IRole
    """Execution role of the training jobs. Grant it access to images, data and checkpoints."""
    job_queue_arn: str
    """ARN of the job queue."""
    service_environment_arn: str
    """ARN of the service environment."""
    share_names: tuple[str, ...]
    """Names of the quota shares; each job specifies one."""
    training_plan_arn: str | None
    """Training plan for jobs."""

    @validate_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        instances: Mapping[str, int],
        shares: Sequence[QuotaShare] | None = None,
        training_plan_arn: str | None = None,
    ) -> None:
        """Define the queue.

        Args:
            instances: Maximum number of instances by SageMaker instance type, such as ``{"ml.trn2.48xlarge": 4}``. A job
                with another type waits forever.
            shares: Quota shares. Default: one share ``default`` with all instances.
            training_plan_arn: Training plan for jobs, bought outside of deployments, exposed as `training_plan_arn`; each
                job must name it. Default: none; jobs are billed at on-demand prices.

        Raises:
            FindingsError: If a type is not supported for training or by the plan (UC6334), a number is out of range
                (UC6335), a share is invalid (UC6336), or the plan is not one of this Region (UC6337).
        """
        chosen = (QuotaShare(name="default", instances=dict(instances)),) if shares is None else tuple(shares)
        reject(
            [
                *check_instances(instances),
                *check_shares(chosen, instances),
                *check_plan(training_plan_arn, instances, Stack.of(scope).region),
            ]
        )
        super().__init__(scope, construct_id)
        self.training_plan_arn = training_plan_arn
        self.share_names = tuple(share.name for share in chosen)
        self.execution_role = self._define_execution_role()
        environment = batch.CfnServiceEnvironment(
            self,
            "ServiceEnvironment",
            service_environment_type="SAGEMAKER_TRAINING",
            state="ENABLED",
            # Limits by type, because NUM_INSTANCES would admit jobs of any type.
            capacity_limits=[
                batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=name, max_capacity=number)
                for name, number in instances.items()
            ],
        )
        policy = batch.CfnSchedulingPolicy(
            self,
            "SchedulingPolicy",
            quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(
                idle_resource_assignment_strategy="FIFO"
            ),
        )
        queue = batch.CfnJobQueue(
            self,
            "Resource",
            priority=1,
            job_queue_type="SAGEMAKER_TRAINING",
            scheduling_policy_arn=policy.attr_arn,
            service_environment_order=[
                batch.CfnJobQueue.ServiceEnvironmentOrderProperty(
                    order=1, service_environment=environment.attr_service_environment_arn
                )
            ],
        )
        self.job_queue_arn = queue.attr_job_queue_arn
        self.service_environment_arn = environment.attr_service_environment_arn
        scope_of_shares = Construct(self, "Shares")
        for share in chosen:
            _define_share(scope_of_shares, share, queue.attr_job_queue_arn)

    def _define_execution_role(self) -> iam.Role:
        role = iam.Role(
            self,
            "ExecutionRole",
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
            description="Training jobs of SageMaker: their logs and metrics; data and images are granted to it",
            inline_policies={"Never": iam.PolicyDocument(statements=[never()])},
        )
        logs = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:{_LOG_GROUP}"
        role.add_to_policy(
            allow(
                "Logs",
                [
                    "logs:CreateLogGroup",
                    "logs:CreateLogStream",
                    "logs:DescribeLogStreams",
                    "logs:PutLogEvents",
                ],
                [logs, f"{logs}:*"],
            )
        )
        role.add_to_policy(
            allow(
                "Metrics",
                ["cloudwatch:PutMetricData"],
                ["*"],
                {"StringEquals": {"cloudwatch:namespace": _NAMESPACE}},
            )
        )
        return role

    @validate_arguments
    def grant_submit(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant permission to submit jobs that use the execution role, and to describe jobs.

        Args:
            grantee: Principal to grant permissions to.
        """
        submit = grant(
            grantee, ["batch:SubmitServiceJob"], [self.job_queue_arn, f"{self.job_queue_arn}/quota-share/*"]
        )
        look = grant(grantee, ["batch:DescribeServiceJob", "batch:ListServiceJobs"], ["*"])
        hand_over = grant(
            grantee,
            ["iam:PassRole"],
            [self.execution_role.role_arn],
            {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        )
        return submit.combine(look).combine(hand_over)


def _define_share(scope: Construct, share: QuotaShare, job_queue: str) -> None:
    batch.CfnQuotaShare(
        scope,
        share.name,
        quota_share_name=share.name,
        job_queue=job_queue,
        state="ENABLED",
        capacity_limits=[
            batch.CfnQuotaShare.QuotaShareCapacityLimitProperty(capacity_unit=name, max_capacity=number)
            for name, number in share.instances.items()
        ],
        resource_sharing_configuration=batch.CfnQuotaShare.QuotaShareResourceSharingConfigurationProperty(
            strategy=share.sharing, borrow_limit=share.borrow_limit_percent
        ),
        preemption_configuration=batch.CfnQuotaShare.QuotaSharePreemptionConfigurationProperty(
            in_share_preemption="ENABLED" if share.preempt_within else "DISABLED"
        ),
    )
