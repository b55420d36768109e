"""Lambda functions that run every minute or on events."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.function_code import function_code
from ultracluster._foundation.log_group import RetainedLogGroup, write_statement
from ultracluster._foundation.permissions import never
from ultracluster._foundation.private_topic import grant_publish

_MINUTE = 60


def _rate(minutes: int) -> str:
    return f"rate({minutes} {'minute' if minutes == 1 else 'minutes'})"


class ScheduledFunction(lambda_.Function):
    """A function with the defaults shared by all Lambda functions: dedicated role and log group, Python, arm64.

    No concurrency is reserved, because accounts with a quota of 10 concurrent executions cannot: two invocations may overlap.

    The function, its role and its log group are the children ``Function``, ``Role`` and ``Logs`` of another construct, as are its
    rules and its alarm.
    Rules and alarm are L1, because the modules of L2 targets and actions import half of the CDK.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        description: str,
        role_description: str,
        policy_name: str,
        statements: Sequence[iam.PolicyStatement],
        handler: str,
        environment: Mapping[str, str],
        timeout: Duration,
        code: lambda_.Code | None = None,
        memory_size: int | None = None,
        retries: bool = True,
        kms_key: kms.IKey | None = None,
    ) -> None:
        """Define the function.

        Args:
            description: Description of the function.
            role_description: Description of the role.
            policy_name: Name of the inline policy of the role.
            statements: Permissions in addition to writing the log.
            handler: Handler.
            environment: Environment variables.
            timeout: Timeout.
            code: Code. Default: `function_code`.
            memory_size: Memory in MiB. Default: 128.
            retries: Whether Lambda retries a failed asynchronous invocation. Not useful for a function that runs every minute.
                Default: twice.
            kms_key: KMS key for the log group. Default: encryption by CloudWatch Logs.
        """
        log_group = RetainedLogGroup(scope, kms_key=kms_key)
        role = iam.Role(
            scope,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=role_description,
            inline_policies={
                policy_name: iam.PolicyDocument(statements=[write_statement(log_group), *statements, never()])
            },
        )
        super().__init__(
            scope,
            "Function",
            description=description,
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            handler=handler,
            code=code or function_code(),
            role=role,
            log_group=log_group,
            environment=environment,
            timeout=timeout,
            memory_size=memory_size,
        )
        self._scope = scope
        # The L2 function also depends on its role by DependsOn, which waits for policies that are added to the role.
        cast("lambda_.CfnFunction", self.node.default_child).add_metadata(
            "cfn-lint", {"config": {"ignore_checks": ["W3005"]}}
        )
        if not retries:
            self.configure_async_invoke(retry_attempts=0, max_event_age=Duration.seconds(_MINUTE))

    def add_rule(
        self,
        construct_id: str,
        *,
        description: str,
        event_pattern: Mapping[str, Any] | None = None,
        minutes: int = 1,
    ) -> events.CfnRule:
        """Add a rule that invokes the function every minute, every few, or on events of a pattern of Amazon EventBridge."""
        rule = events.CfnRule(
            self._scope,
            construct_id,
            description=description,
            schedule_expression=_rate(minutes) if event_pattern is None else None,
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
        return rule

    def alarm_on_errors(
        self, construct_id: str, *, description: str, minutes: int, treat_missing_data: str, topic: sns.ITopic
    ) -> None:
        """Add an alarm on consecutive minutes with errors that notifies a topic.

        The policy of an imported topic must already allow CloudWatch to publish. `treat_missing_data` is ``breaching`` or
        ``notBreaching``, for minutes without an invocation.
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
        # The policy of a topic of another stack cannot name the alarm: each stack would need the other one first.
        here = Stack.of(topic).node.addr == Stack.of(alarm).node.addr
        source = {"ArnEquals": {"aws:SourceArn": alarm.attr_arn}} if here else None
        # Several functions may share a topic, in whose policy each Sid is unique.
        sid = "Alarm" + "".join(filter(str.isalnum, self._scope.node.id))
        grant_publish(topic, sid=sid, service="cloudwatch.amazonaws.com", source=source)
