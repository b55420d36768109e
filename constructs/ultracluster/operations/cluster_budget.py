"""A budget for one cluster: people are told, and at a threshold its queues take no new jobs."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from aws_cdk import Aws, Duration, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.log_group import RetainedLogGroup
from ultracluster._foundation.private_topic import grant_publish, publish_statements
from ultracluster._foundation.scheduled_function import ScheduledFunction
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_catalog.limits.budgets import CLOSED_BY_BUDGET_TAG, check_budget
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_rules.plain_numbers import takes_plain_numbers

__all__ = ["ClusterBudget"]

_TIMEOUT = 60


class ClusterBudget(Construct):
    """A monthly budget of AWS Budgets over everything in the Region that carries one tag.

    AWS looks at the bill a few times a day, so that a threshold is noticed hours after it was crossed: this ends a mistake of
    days, not of minutes. The tag must be a cost allocation tag of the account that pays; until somebody activates it in the
    billing console, the budget stays at 0. What a Capacity Block costs is on the bill of the month in which it was bought.
    """

    @takes_plain_numbers
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        monthly_usd: float,
        tag_value: str,
        tag_key: str = CLUSTER_TAG,
        actual_percents: Sequence[float] = (50, 80, 100),
        forecast_percents: Sequence[float] = (100,),
        emails: Sequence[str] = (),
        topic: sns.ITopic | None = None,
        queues_to_close: Sequence[TrainingQueue] = (),
        close_at_percent: float = 100,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the budget.

        Args:
            scope: Parent construct.
            construct_id: Construct ID.
            monthly_usd: Limit of a month in US dollars, above 0.
            tag_value: Value of the tag on what is counted, such as the name of the cluster.
            tag_key: Key of that tag. Default: ``ultracluster:cluster``, which clusters of rollout files have.
            actual_percents: When people are told of what was spent, in percent of the limit. Default: 50, 80 and 100.
            forecast_percents: When people are told of what AWS forecasts for the end of the month. Default: 100. AWS
                forecasts after about five weeks of use.
            emails: Addresses that get every notification, up to 10. Default: none.
            topic: SNS topic for notifications; its policy must let ``budgets.amazonaws.com`` publish. Default: a new one;
                subscribe somebody to it.
            queues_to_close: Queues that take no new jobs any more at `close_at_percent`. What runs or waits goes on and writes
                its checkpoints, and nothing opens them again but a person. Default: none, because a Capacity Block
                is paid whether its queue is open or not.
            close_at_percent: When they are closed, in percent of the limit that was spent. Default: 100.
            kms_key: Key of your own for new topics and the log; its policy must let AWS Budgets, CloudWatch and its Logs use it.
                Default: none for the topics, and the keys of CloudWatch Logs.

        Raises:
            FindingsError: If the limit is not above 0 (UC6360), a threshold is out of bounds or given twice, or there are
                none or more than 10 of them (UC6361), there are more than 10 addresses or one is none (UC6362), or a
                queue is named twice (UC6363).
        """
        findings = check_budget(
            monthly_usd=monthly_usd,
            actual_percents=actual_percents,
            forecast_percents=forecast_percents,
            close_at_percent=close_at_percent if queues_to_close else None,
            emails=emails,
        )
        if len(set(queues_to_close)) < len(queues_to_close):
            findings.append(
                Finding(
                    code="UC6363",
                    problem="a queue is named twice",
                    remedy="Name it once",
                    path="queues_to_close",
                )
            )
        if findings:
            raise FindingsError(findings)
        super().__init__(scope, construct_id)
        self._kms_key = kms_key
        self._topic_key = None if topic else kms_key
        self._topic = topic or self._define_topic("Notices")
        self._function = self._define_closing(queues_to_close) if queues_to_close else None
        told = {("ACTUAL", each): self._topic for each in actual_percents}
        told |= {("FORECASTED", each): self._topic for each in forecast_percents}
        if self._function is not None:
            # A notification has one topic; the function tells the others when it has closed the queues.
            closing = self._define_topic("Closing")
            sns.CfnSubscription(
                self,
                "Subscription",
                topic_arn=closing.topic_arn,
                protocol="lambda",
                endpoint=self._function.function_arn,
            )
            self._function.add_permission(
                "ByClosing",
                principal=iam.ServicePrincipal("sns.amazonaws.com"),
                source_arn=closing.topic_arn,
            )
            told["ACTUAL", close_at_percent] = closing
        self._budget = budgets.CfnBudget(
            self,
            "Resource",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=monthly_usd, unit="USD"),
                cost_filters={
                    "TagKeyValue": [f"user:{tag_key}${tag_value}"],
                    "Region": [Stack.of(self).region],
                },
                # Credits and refunds would hide what was used.
                cost_types=budgets.CfnBudget.CostTypesProperty(include_credit=False, include_refund=False),
            ),
            notifications_with_subscribers=[
                budgets.CfnBudget.NotificationWithSubscribersProperty(
                    notification=budgets.CfnBudget.NotificationProperty(
                        notification_type=kind,
                        comparison_operator="GREATER_THAN",
                        threshold=percent,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=[
                        budgets.CfnBudget.SubscriberProperty(subscription_type="SNS", address=to.topic_arn),
                        *(
                            budgets.CfnBudget.SubscriberProperty(subscription_type="EMAIL", address=email)
                            for email in emails
                        ),
                    ],
                )
                for (kind, percent), to in sorted(told.items(), key=lambda each: each[0])
            ],
        )
        for to in {each.topic_arn: each for each in told.values()}.values():
            # Its policy must be there before AWS Budgets looks.
            if policy := to.node.try_find_child("Policy"):
                self._budget.node.add_dependency(policy)

    def _define_topic(self, construct_id: str) -> sns.Topic:
        topic = sns.Topic(self, construct_id, master_key=self._kms_key, enforce_ssl=True)
        source = {"ArnLike": {"aws:SourceArn": f"arn:{Aws.PARTITION}:budgets::{Aws.ACCOUNT_ID}:*"}}
        grant_publish(topic, sid="Budgets", service="budgets.amazonaws.com", source=source)
        return topic

    def _define_closing(self, queues: Sequence[TrainingQueue]) -> ScheduledFunction:
        arns = [each.job_queue_arn for each in queues]
        function = ScheduledFunction(
            self,
            log_group=RetainedLogGroup(self, kms_key=self._kms_key),
            description="Closes job queues when a budget is spent",
            role_description="Closes job queues for new jobs when a budget is spent",
            policy_name="Close",
            statements=[
                iam.PolicyStatement(
                    sid="Close", actions=["batch:TagResource", "batch:UpdateJobQueue"], resources=arns
                ),
                *publish_statements("Tell", self._topic, self._topic_key),
            ],
            handler="index.handler",
            code=lambda_.Code.from_inline(_source()),
            environment={
                "UC_JOB_QUEUES": ",".join(arns),
                "UC_TOPIC": self._topic.topic_arn,
                "UC_CLOSED_TAG": CLOSED_BY_BUDGET_TAG,
            },
            timeout=Duration.seconds(_TIMEOUT),
        )
        function.alarm_on_errors(
            "NotClosed",
            description="A budget is spent, and its queues could not be closed: close them by hand, with "
            "aws batch update-job-queue --state DISABLED, and see the function's log",
            minutes=1,
            treat_missing_data="notBreaching",
            topic=self._topic,
        )
        return function

    @property
    def budget_name(self) -> str:
        """Name that CloudFormation gives to the budget."""
        return self._budget.ref

    @property
    def function(self) -> lambda_.IFunction | None:
        """The function that closes the queues; None where none is closed."""
        return self._function

    @property
    def topic(self) -> sns.ITopic:
        """Topic of the notifications."""
        return self._topic


def _source() -> str:
    # Found, not imported: synthesis needs no boto3.
    spec = find_spec("ultracluster_runtime")
    if spec is None or spec.origin is None:
        raise ImportError("the package ultracluster_runtime is not installed beside ultracluster")
    return Path(spec.origin).with_name("functions").joinpath("close_queues.py").read_text("utf-8")
