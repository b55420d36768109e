"""Lambda functions that run every minute or at events."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.log_group import write_statement
from ultracluster._foundation.private_topic import grant_publish

__all__ = ["ScheduledFunction"]

_MINUTE = 60


class ScheduledFunction(lambda_.Function):
    """A function with the defaults that ours share: a role and a log group of its own, Python, arm64.

    The function and its role are the children ``Function`` and ``Role`` of another construct, as are its rules and its alarm. Those
    are L1: the modules of L2 targets and actions import half of the CDK.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        log_group: logs.ILogGroup,
        description: str,
        role_description: str,
        policy_name: str,
        statements: Sequence[iam.PolicyStatement],
        handler: str,
        code: lambda_.Code,
        environment: Mapping[str, str],
        timeout: Duration,
        memory_size: int | None = None,
        reserved_concurrent_executions: int | None = None,
        retries: bool = True,
    ) -> None:
        """Define the function.

        Args:
            scope: The other construct.
            log_group: Where it logs.
            description: What the function does.
            role_description: What the role may do.
            policy_name: Name of the role's policy.
            statements: Permissions besides writing the log.
            handler: What Lambda calls.
            code: Its code.
            environment: Its environment variables.
            timeout: When it is ended.
            memory_size: Its memory in MiB. Default: 128.
            reserved_concurrent_executions: How often it may run at the same time. Default: not limited.
            retries: Whether Lambda repeats a failed asynchronous call. Not where the next minute calls it anyway: an older call is
                worth nothing then. Default: twice.
        """
        role = iam.Role(
            scope,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=role_description,
            inline_policies={
                policy_name: iam.PolicyDocument(statements=[write_statement(log_group), *statements])
            },
        )
        super().__init__(
            scope,
            "Function",
            description=description,
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            handler=handler,
            code=code,
            role=role,
            log_group=log_group,
            environment=environment,
            timeout=timeout,
            memory_size=memory_size,
            reserved_concurrent_executions=reserved_concurrent_executions,
        )
        self._scope = scope
        # The L2 function depends on its role also by DependsOn, which waits for policies that are added to the role.
        cast("lambda_.CfnFunction", self.node.default_child).add_metadata(
            "cfn-lint", {"config": {"ignore_checks": ["W3005"]}}
        )
        if not retries:
            self.configure_async_invoke(retry_attempts=0, max_event_age=Duration.seconds(_MINUTE))

    def add_schedule(
        self, construct_id: str, *, description: str, event_pattern: Mapping[str, Any] | None = None
    ) -> None:
        """Call the function every minute or at events.

        Args:
            construct_id: ID of the rule in the other construct.
            description: Description of the rule.
            event_pattern: The events, in the JSON of Amazon EventBridge. Default: none, but every minute.
        """
        rule = events.CfnRule(
            self._scope,
            construct_id,
            description=description,
            schedule_expression="rate(1 minute)" if event_pattern is None else None,
            event_pattern=event_pattern,
            state="ENABLED",
            targets=[
                events.CfnRule.TargetProperty(
                    id="Target0",
                    arn=self.function_arn,
                    retry_policy=events.CfnRule.RetryPolicyProperty(
                        maximum_retry_attempts=0, maximum_event_age_in_seconds=_MINUTE
                    ),
                )
            ],
        )
        self.add_permission(
            f"By{construct_id}",
            principal=iam.ServicePrincipal("events.amazonaws.com"),
            source_arn=rule.attr_arn,
        )

    def alarm_on_errors(
        self,
        construct_id: str,
        *,
        description: str,
        minutes: int,
        treat_missing_data: str,
        topic: sns.ITopic,
    ) -> None:
        """Publish to a topic when each of some minutes has an error.

        The policy of an imported topic must let CloudWatch publish already.

        Args:
            construct_id: ID of the alarm in the other construct.
            description: What the alarm means.
            minutes: How many in a row.
            treat_missing_data: What a minute without a call counts as, ``breaching`` or ``notBreaching``.
            topic: The topic.
        """
        alarm = cloudwatch.CfnAlarm(
            self._scope,
            construct_id,
            alarm_description=description,
            namespace="AWS/Lambda",
            metric_name="Errors",
            dimensions=[cloudwatch.CfnAlarm.DimensionProperty(name="FunctionName", value=self.function_name)],
            period=_MINUTE,
            statistic="Sum",
            threshold=1,
            comparison_operator="GreaterThanOrEqualToThreshold",
            evaluation_periods=minutes,
            treat_missing_data=treat_missing_data,
            alarm_actions=[topic.topic_arn],
        )
        source = {"ArnEquals": {"aws:SourceArn": alarm.attr_arn}}
        grant_publish(topic, sid="Alarm", service="cloudwatch.amazonaws.com", source=source)
