"""AWS Batch in front of SageMaker training jobs: a queue with a quota for each team, over Trainium of SageMaker."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aws_cdk import Aws, Stack, Token
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster_catalog.findings import Finding, FindingsError, quote
from ultracluster_catalog.plain_numbers import refuse_other_numbers, takes_plain_numbers
from ultracluster_catalog.sagemaker import (
    MOST_QUOTA_UNITS,
    SAGEMAKER_TRAINING_TYPES,
    TRAINING_PLAN_ARN,
    TRAINING_PLAN_TYPES,
)

__all__ = ["QuotaShare", "SageMakerTrainingQueue"]

_LOG_GROUP = "/aws/sagemaker/TrainingJobs"  # SageMaker's own, the same for all training jobs of an account
_NAMESPACE = "/aws/sagemaker/TrainingJobs"
_SHARE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


@dataclass(frozen=True, kw_only=True, slots=True)
class QuotaShare:
    """What one team may use of a `SageMakerTrainingQueue`.

    Attributes:
        name: Name that jobs give, up to 128 letters, digits, hyphens and underscores.
        instances: Most instances of each type at one time, without what is borrowed.
        sharing: ``RESERVE`` keeps idle instances, ``LEND`` lends them, ``LEND_AND_BORROW`` also borrows those of
            others. A job on borrowed instances ends when their owner wants them. Default: ``RESERVE``.
        borrow_limit_percent: Most that is borrowed, in percent of `instances`; -1 is without limit. Default: no
            limit. Only with ``LEND_AND_BORROW``.
        preempt_within: Whether a job of higher priority ends a lower one of the same share. Default: no.
    """

    name: str
    instances: Mapping[str, int]
    sharing: Literal["RESERVE", "LEND", "LEND_AND_BORROW"] = "RESERVE"
    borrow_limit_percent: int | None = None
    preempt_within: bool = False

    def __post_init__(self) -> None:
        refuse_other_numbers(self)


class SageMakerTrainingQueue(Construct):
    """A job queue for SageMaker training jobs, which runs the instance types that it names and no others.

    AWS Batch holds jobs back until their share has room, and SageMaker then launches the instances. Nothing is launched
    by a deployment. No time limit acts on waiting jobs: it would end those that wait for a training plan to start.
    """

    @takes_plain_numbers
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
            scope: Where to add it.
            construct_id: Its id there.
            instances: Most instances of each SageMaker type at one time, such as ``{"ml.trn2.48xlarge": 4}``. A job
                of another type waits for ever.
            shares: Quota of each team. Default: one share ``default`` with all instances.
            training_plan_arn: Training plan that jobs run in, bought outside of any deployment. It is kept for
                those who submit; each job names it. Default: none, so jobs pay on-demand prices.

        Raises:
            FindingsError: If a type cannot train or is not one of the plan's (UC6334), a number is out of bounds
                (UC6335), a share is wrong (UC6336) or the plan is no plan of this Region (UC6337).
        """
        chosen = (QuotaShare(name="default", instances=dict(instances)),) if shares is None else tuple(shares)
        findings = [
            *_check_instances(instances),
            *_check_shares(chosen, instances),
            *_check_plan(training_plan_arn, instances, Stack.of(scope).region),
        ]
        if findings:
            raise FindingsError(findings)
        super().__init__(scope, construct_id)
        self._training_plan_arn = training_plan_arn
        self._share_names = tuple(share.name for share in chosen)
        self._execution_role = self._define_execution_role()
        environment = batch.CfnServiceEnvironment(
            self,
            "ServiceEnvironment",
            service_environment_type="SAGEMAKER_TRAINING",
            state="ENABLED",
            # By type, not NUM_INSTANCES: that would let a job of any type through.
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
        self._job_queue_arn = queue.attr_job_queue_arn
        self._service_environment_arn = environment.attr_service_environment_arn
        scope_of_shares = Construct(self, "Shares")
        for share in chosen:
            _define_share(scope_of_shares, share, queue.attr_job_queue_arn)

    def _define_execution_role(self) -> iam.Role:
        role = iam.Role(
            self,
            "ExecutionRole",
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
            description="Training jobs of SageMaker: their logs and metrics; data and images are granted to it",
        )
        logs = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:{_LOG_GROUP}"
        role.add_to_policy(
            iam.PolicyStatement(
                sid="Logs",
                actions=[
                    "logs:CreateLogGroup",
                    "logs:CreateLogStream",
                    "logs:DescribeLogStreams",
                    "logs:PutLogEvents",
                ],
                resources=[logs, f"{logs}:*"],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                sid="Metrics",
                actions=["cloudwatch:PutMetricData"],
                resources=["*"],
                conditions={"StringEquals": {"cloudwatch:namespace": _NAMESPACE}},
            )
        )
        return role

    def grant_submit(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody submit jobs that run with the execution role, and look at jobs.

        Args:
            grantee: Who may.
        """
        submit = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["batch:SubmitServiceJob"],
            resource_arns=[self._job_queue_arn, f"{self._job_queue_arn}/quota-share/*"],
        )
        look = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["batch:DescribeServiceJob", "batch:ListServiceJobs"],
            resource_arns=["*"],
        )
        hand_over = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["iam:PassRole"],
            resource_arns=[self._execution_role.role_arn],
            conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        )
        return submit.combine(look).combine(hand_over)

    @property
    def execution_role(self) -> iam.IRole:
        """Role of the training jobs. Grant it their images, data and checkpoints."""
        return self._execution_role

    @property
    def job_queue_arn(self) -> str:
        """ARN of the job queue."""
        return self._job_queue_arn

    @property
    def service_environment_arn(self) -> str:
        """ARN of the service environment."""
        return self._service_environment_arn

    @property
    def share_names(self) -> tuple[str, ...]:
        """Names of the quota shares, one of which every job gives."""
        return self._share_names

    @property
    def training_plan_arn(self) -> str | None:
        """Training plan that jobs are meant to run in."""
        return self._training_plan_arn


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


def _check_instances(instances: Mapping[str, int]) -> list[Finding]:
    findings = [
        Finding(
            code="UC6334",
            problem=f"got {quote(name)}",
            allowed=", ".join(SAGEMAKER_TRAINING_TYPES),
            path="instances",
        )
        for name in instances
        if name not in SAGEMAKER_TRAINING_TYPES
    ]
    if not 1 <= len(instances) <= MOST_QUOTA_UNITS:
        findings.append(
            Finding(
                code="UC6335",
                problem=f"got {len(instances)} instance types",
                allowed=f"1 to {MOST_QUOTA_UNITS}",
                path="instances",
            )
        )
    findings += [
        Finding(
            code="UC6335",
            problem=f"got {quote(number)} of {name}",
            allowed="1 or more",
            path=f"instances.{name}",
        )
        for name, number in instances.items()
        if number < 1
    ]
    return findings


def _check_shares(shares: Sequence[QuotaShare], instances: Mapping[str, int]) -> list[Finding]:
    def wrong(path: str, problem: str, allowed: str) -> Finding:
        return Finding(code="UC6336", problem=problem, allowed=allowed, path=path)

    findings = []
    if not shares:
        findings.append(wrong("shares", "got none", "one or more; a job must name one"))
    names = [share.name for share in shares]
    for index, share in enumerate(shares):
        path = f"shares[{index}]"
        if not _SHARE_NAME.fullmatch(share.name):
            allowed = "up to 128 letters, digits, hyphens and underscores"
            findings.append(wrong(f"{path}.name", f"got {quote(share.name)}", allowed))
        if share.name in names[:index]:
            findings.append(wrong(f"{path}.name", f"got {quote(share.name)} twice", "each name once"))
        if not share.instances:
            findings.append(wrong(f"{path}.instances", "got none", "one instance type or more"))
        findings += [
            wrong(
                f"{path}.instances.{name}",
                f"got {quote(number)}",
                f"1 to {instances[name]}, what the queue has" if name in instances else "a type of the queue",
            )
            for name, number in share.instances.items()
            if not 1 <= number <= instances.get(name, 0)
        ]
        limit = share.borrow_limit_percent
        if limit is not None and (share.sharing != "LEND_AND_BORROW" or limit < -1):
            allowed = "-1 or more, with LEND_AND_BORROW"
            findings.append(wrong(f"{path}.borrow_limit_percent", f"got {quote(limit)}", allowed))
    return findings


def _check_plan(arn: str | None, instances: Mapping[str, int], region: str) -> list[Finding]:
    if arn is None or Token.is_unresolved(arn):
        return []
    found = re.fullmatch(TRAINING_PLAN_ARN, arn)
    if found is None or not (Token.is_unresolved(region) or found["region"] == region):
        where = "this Region" if Token.is_unresolved(region) else region
        return [
            Finding(
                code="UC6337",
                problem=f"got {quote(arn)}",
                allowed=f"the ARN of a training plan in {where}",
                path="training_plan_arn",
            )
        ]
    return [
        Finding(
            code="UC6334",
            problem=f"got {quote(name)} with a training plan",
            allowed=f"types that plans reserve: {', '.join(TRAINING_PLAN_TYPES)}",
            path="instances",
        )
        for name in instances
        if name in SAGEMAKER_TRAINING_TYPES and name not in TRAINING_PLAN_TYPES
    ]
