"""A budget for one cluster that sends notifications and can close its job queues at a threshold."""

from collections.abc import Sequence

from aws_cdk import Aws, Duration, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.function_code import runtime_folder
from ultracluster._foundation.permissions import allow
from ultracluster._foundation.private_topic import grant_publish, publish_statements
from ultracluster._foundation.scheduled_function import ScheduledFunction
from ultracluster.scheduling.training_queue import TrainingQueue
from ultracluster_catalog.limits.budgets import CLOSED_BY_BUDGET_TAG
from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_spec.alarms import check_budget
from ultracluster_spec.arguments import validate_arguments
from ultracluster_spec.findings import Finding, reject

_TIMEOUT = 60


class ClusterBudget(Construct):
    """A monthly AWS budget for all resources of the Region with one tag.

    AWS updates billing data a few times a day, so notifications arrive hours after a threshold is crossed: a budget limits
    mistakes of days, not of minutes. The tag must be activated as a cost allocation tag in the billing console of the paying
    account; until then the budget stays at 0. A Capacity Block is billed in the month of its purchase.
    """

    function: lambda_.IFunction | None
    """Function that closes the queues; None without queues."""
    topic: sns.ITopic
    """Topic of the notifications."""

    @validate_arguments
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
            monthly_usd: Monthly limit in US dollars, above 0.
            tag_value: Tag value of the resources to count, such as the name of the cluster.
            tag_key: Tag key. Default: ``ultracluster:cluster``, which clusters of rollout files have.
            actual_percents: Thresholds of notifications about actual cost, in percent of the limit. Default: 50, 80 and 100.
            forecast_percents: Thresholds of notifications about the forecast for the month, in percent of the limit. AWS
                needs about five weeks of usage for a forecast. Default: 100.
            emails: Addresses that receive every notification, up to 10. Default: none.
            topic: SNS topic for notifications; its policy must allow ``budgets.amazonaws.com`` to publish. Default: a new one
                without subscriptions.
            queues_to_close: Queues to disable for new jobs at `close_at_percent`. Running and waiting jobs continue, and the
                queues must be enabled again manually. Default: none, because a Capacity Block is billed whether its queue is
                enabled or not.
            close_at_percent: Threshold of actual cost for closing the queues, in percent of the limit. Default: 100.
            kms_key: KMS key for new topics and the log group; its policy must allow AWS Budgets, CloudWatch and CloudWatch
                Logs to use it. Default: none for the topics, and encryption by CloudWatch Logs.

        Raises:
            FindingsError: If the limit is not above 0 (UC6360), a threshold is out of range or duplicate, or there are none
                or more than 10 (UC6361), there are more than 10 addresses or one is malformed (UC6362), or a queue is listed
                twice (UC6363).
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
                Finding("UC6363", "a queue is listed twice", remedy="List it once", path="queues_to_close")
            )
        reject(findings)
        super().__init__(scope, construct_id)
        self._kms_key = kms_key
        self._topic_key = None if topic else kms_key
        self.topic = topic or self._define_topic("Notices")
        self.function = self._define_closing(queues_to_close) if queues_to_close else None
        topics = {("ACTUAL", percent): self.topic for percent in actual_percents}
        topics |= {("FORECASTED", percent): self.topic for percent in forecast_percents}
        if self.function is not None:
            topics["ACTUAL", close_at_percent] = self._define_closing_topic(self.function)
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
                # Credits and refunds would hide usage.
                cost_types=budgets.CfnBudget.CostTypesProperty(include_credit=False, include_refund=False),
            ),
            notifications_with_subscribers=[
                _notification(kind, percent, subscribed, emails)
                for (kind, percent), subscribed in sorted(topics.items(), key=lambda entry: entry[0])
            ],
        )
        for subscribed in {topic.topic_arn: topic for topic in topics.values()}.values():
            # AWS Budgets checks the policy of the topic when the budget is created.
            if policy := subscribed.node.try_find_child("Policy"):
                self._budget.node.add_dependency(policy)

    def _define_closing_topic(self, function: ScheduledFunction) -> sns.Topic:
        """Define the topic that calls the function: a notification has one SNS topic, and the function notifies the other."""
        closing = self._define_topic("Closing")
        sns.CfnSubscription(
            self,
            "Subscription",
            topic_arn=closing.topic_arn,
            protocol="lambda",
            endpoint=function.function_arn,
        )
        function.add_permission(
            "ByClosing", principal=iam.ServicePrincipal("sns.amazonaws.com"), source_arn=closing.topic_arn
        )
        return closing

    def _define_topic(self, construct_id: str) -> sns.Topic:
        topic = sns.Topic(self, construct_id, master_key=self._kms_key, enforce_ssl=True)
        source = {"ArnLike": {"aws:SourceArn": f"arn:{Aws.PARTITION}:budgets::{Aws.ACCOUNT_ID}:*"}}
        grant_publish(topic, sid="Budgets", service="budgets.amazonaws.com", source=source)
        return topic

    def _define_closing(self, queues: Sequence[TrainingQueue]) -> ScheduledFunction:
        arns = [queue.job_queue_arn for queue in queues]
        function = ScheduledFunction(
            self,
            description="Closes job queues when a budget is spent",
            role_description="Closes job queues for new jobs when a budget is spent",
            policy_name="Close",
            statements=[
                allow("Close", ["batch:TagResource", "batch:UpdateJobQueue"], arns),
                *publish_statements("Tell", self.topic, self._topic_key),
            ],
            handler="index.handler",
            environment={
                "UC_JOB_QUEUES": ",".join(arns),
                "UC_TOPIC": self.topic.topic_arn,
                "UC_CLOSED_TAG": CLOSED_BY_BUDGET_TAG,
            },
            timeout=Duration.seconds(_TIMEOUT),
            code=lambda_.Code.from_inline(
                (runtime_folder() / "functions" / "close_queues.py").read_text(encoding="utf-8")
            ),
            kms_key=self._kms_key,
        )
        function.alarm_on_errors(
            "NotClosed",
            description="A budget is spent, and its queues could not be closed: close them by hand, with "
            "aws batch update-job-queue --state DISABLED, and see the function's log",
            minutes=1,
            treat_missing_data="notBreaching",
            topic=self.topic,
        )
        return function

    @property
    def budget_name(self) -> str:
        """Generated name of the budget."""
        return self._budget.ref


def _notification(
    kind: str, percent: float, topic: sns.ITopic, emails: Sequence[str]
) -> budgets.CfnBudget.NotificationWithSubscribersProperty:
    subscriber = budgets.CfnBudget.SubscriberProperty
    return budgets.CfnBudget.NotificationWithSubscribersProperty(
        notification=budgets.CfnBudget.NotificationProperty(
            notification_type=kind,
            comparison_operator="GREATER_THAN",
            threshold=percent,
            threshold_type="PERCENTAGE",
        ),
        subscribers=[
            subscriber(subscription_type="SNS", address=topic.topic_arn),
            *(subscriber(subscription_type="EMAIL", address=email) for email in emails),
        ],
    )
