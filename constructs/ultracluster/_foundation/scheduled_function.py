"""What holds for every Lambda function of ours: its own log and role, Python, the cheap processor, no dependency twice."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster._foundation.log_group import KeptLogGroup, write_log
from ultracluster._foundation.private_topic import PrivateTopic, let_publish
from ultracluster._foundation.service_role import ServiceRole
from ultracluster._foundation.statement import Statement

__all__ = ["SmallFunction", "tell"]

_EVERY_MINUTE = "rate(1 minute)"
_MINUTE = 60


def tell(sid: str, topic: sns.ITopic | PrivateTopic, kms_key: kms.IKey | None) -> list[Statement]:
    """Give the statements that let a function publish to a topic.

    Args:
        sid: What to call the statement.
        topic: The topic.
        kms_key: Key that the topic is encrypted with. None for one without.
    """
    publish = Statement(["sns:Publish"], [topic.topic_arn], sid=sid)
    if kms_key is None:
        return [publish]
    uses = ["kms:Decrypt", "kms:GenerateDataKey"]
    return [publish, Statement(uses, [kms_key.key_arn], sid=f"{sid}Encrypted")]


class SmallFunction(Construct):
    """A function and its role, as the children ``Function`` and ``Role`` of another construct.

    Of L1 constructs: the L2 ones, with what they load and look up, take a tenth of the time in which a cluster is synthesized.
    """

    _imported: lambda_.IFunction | None = None

    def __init__(
        self,
        scope: Construct,
        *,
        log_group: KeptLogGroup,
        description: str,
        role_description: str,
        policy_name: str,
        statements: Sequence[Statement],
        handler: str,
        code: lambda_.CfnFunction.CodeProperty,
        environment: Mapping[str, str],
        timeout_seconds: int,
        memory_mib: int | None = None,
        one_at_a_time: bool = False,
        tried_again: bool = True,
    ) -> None:
        """Define the function.

        Args:
            scope: The other construct.
            log_group: Where it logs.
            description: What the function does.
            role_description: What the role may do.
            policy_name: Name of the role's policy.
            statements: What it may do beside writing its log.
            handler: What Lambda calls.
            code: Its code.
            environment: Its environment variables.
            timeout_seconds: When it is ended.
            memory_mib: Its memory. Default: 128 MiB.
            one_at_a_time: Whether a second one never runs beside it. Default: it may.
            tried_again: Whether Lambda repeats a failed call. Not when the next minute calls it anyway: a call of before
                is worth nothing then. Default: it does, twice.
        """
        super().__init__(scope, "Function")
        self._scope = scope
        self._role = ServiceRole(
            scope,
            "Role",
            service="lambda.amazonaws.com",
            description=role_description,
            policy_name=policy_name,
            statements=[write_log(log_group.log_group_arn), *statements],
        )
        self._variables = dict(environment)
        self._resource = lambda_.CfnFunction(
            self,
            "Resource",
            description=description,
            runtime="python3.13",
            architectures=["arm64"],
            handler=handler,
            code=code,
            role=self._role.arn,
            logging_config=lambda_.CfnFunction.LoggingConfigProperty(log_group=log_group.log_group_name),
            memory_size=memory_mib,
            timeout=timeout_seconds,
            reserved_concurrent_executions=1 if one_at_a_time else None,
            environment=lambda_.CfnFunction.EnvironmentProperty(variables=self._variables),
        )
        self._arn = self._resource.attr_arn
        self._name = self._resource.ref
        if not tried_again:
            lambda_.CfnEventInvokeConfig(
                Construct(self, "EventInvokeConfig"),
                "Resource",
                function_name=self._name,
                qualifier="$LATEST",
                maximum_retry_attempts=0,
                maximum_event_age_in_seconds=_MINUTE,
            )

    def set_variable(self, name: str, value: str) -> None:
        """Set one of the environment variables.

        Args:
            name: Its name.
            value: Its value.
        """
        self._variables[name] = value
        self._resource.environment = lambda_.CfnFunction.EnvironmentProperty(variables=self._variables)

    def let_call(self, construct_id: str, *, principal: str, source_arn: str) -> None:
        """Let a service call the function.

        Args:
            construct_id: Id of the permission.
            principal: The service, such as ``events.amazonaws.com``.
            source_arn: On behalf of what.
        """
        lambda_.CfnPermission(
            self,
            construct_id,
            action="lambda:InvokeFunction",
            function_name=self._arn,
            principal=principal,
            source_arn=source_arn,
        )

    def wake_up(
        self, construct_id: str, *, description: str, event_pattern: Mapping[str, Any] | None = None
    ) -> None:
        """Wake it up every minute or at events.

        Args:
            construct_id: Id of the rule in the other construct.
            description: What wakes up.
            event_pattern: The events, in the JSON of Amazon EventBridge. Default: none, but every minute.
        """
        rule = events.CfnRule(
            self._scope,
            construct_id,
            description=description,
            schedule_expression=_EVERY_MINUTE if event_pattern is None else None,
            event_pattern=event_pattern,
            state="ENABLED",
            targets=[
                events.CfnRule.TargetProperty(
                    id="Target0",
                    arn=self._arn,
                    retry_policy=events.CfnRule.RetryPolicyProperty(
                        maximum_retry_attempts=0, maximum_event_age_in_seconds=_MINUTE
                    ),
                )
            ],
        )
        self.let_call(f"By{construct_id}", principal="events.amazonaws.com", source_arn=rule.attr_arn)

    def alarm_on_errors(
        self,
        construct_id: str,
        *,
        description: str,
        minutes: int,
        treat_missing_data: str,
        topic: sns.ITopic | PrivateTopic,
    ) -> None:
        """Tell a topic when each of some minutes has an error.

        The policy of a topic from elsewhere has to let CloudWatch publish already.

        Args:
            construct_id: Id of the alarm in the other construct.
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
            dimensions=[cloudwatch.CfnAlarm.DimensionProperty(name="FunctionName", value=self._name)],
            period=_MINUTE,
            statistic="Sum",
            threshold=1,
            comparison_operator="GreaterThanOrEqualToThreshold",
            evaluation_periods=minutes,
            treat_missing_data=treat_missing_data,
            alarm_actions=[topic.topic_arn],
        )
        source = {"ArnEquals": {"aws:SourceArn": alarm.attr_arn}}
        let_publish(topic, sid="Alarm", service="cloudwatch.amazonaws.com", source=source)

    @property
    def arn(self) -> str:
        """ARN of the function."""
        return self._arn

    @property
    def function(self) -> lambda_.IFunction:
        """The function, for what only an L2 construct can do."""
        if self._imported is None:
            self._imported = lambda_.Function.from_function_attributes(
                self, "Imported", function_arn=self._arn, role=self._role.role, same_environment=True
            )
        return self._imported
