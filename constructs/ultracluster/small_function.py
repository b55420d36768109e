"""What holds for every Lambda function of ours: its own log and role, Python, the cheap processor, no dependency twice."""

from collections.abc import Mapping, Sequence

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

__all__ = ["every_minute", "function_log", "let_alarm_tell", "small_function", "tell", "write_log"]


def function_log(scope: Construct, kms_key: kms.IKey | None = None) -> logs.LogGroup:
    """Define the log group of a construct's function, as its child ``Logs``; it outlives the stack.

    Args:
        scope: The construct.
        kms_key: Key that encrypts it. Default: the keys of CloudWatch Logs.
    """
    return logs.LogGroup(
        scope,
        "Logs",
        retention=logs.RetentionDays.THREE_MONTHS,
        removal_policy=RemovalPolicy.RETAIN,
        encryption_key=kms_key,
    )


def tell(sid: str, topic: sns.ITopic, kms_key: kms.IKey | None) -> list[iam.PolicyStatement]:
    """Give the statements that let a function publish to a topic.

    Args:
        sid: What to call the statement.
        topic: The topic.
        kms_key: Key that the topic is encrypted with. None for one without.
    """
    publish = iam.PolicyStatement(sid=sid, actions=["sns:Publish"], resources=[topic.topic_arn])
    if kms_key is None:
        return [publish]
    uses = ["kms:Decrypt", "kms:GenerateDataKey"]
    return [publish, iam.PolicyStatement(sid=f"{sid}Encrypted", actions=uses, resources=[kms_key.key_arn])]


def write_log(log_group: logs.ILogGroup) -> iam.PolicyStatement:
    """Give the statement that lets a function write its log.

    Args:
        log_group: The log group.
    """
    return iam.PolicyStatement(
        sid="Log",
        actions=["logs:CreateLogStream", "logs:PutLogEvents"],
        resources=[log_group.log_group_arn],
    )


def small_function(
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
    timeout_seconds: int,
    memory_mib: int | None = None,
    one_at_a_time: bool = False,
    tried_again: bool = True,
) -> lambda_.Function:
    """Define the function of a construct and its role, as its children ``Function`` and ``Role``.

    Args:
        scope: The construct.
        log_group: Where it logs, from `function_log`.
        description: What the function does.
        role_description: What the role may do.
        policy_name: Name of the role's policy.
        statements: All that it may do, `write_log` among it.
        handler: What Lambda calls.
        code: Its code.
        environment: Its environment variables.
        timeout_seconds: When it is ended.
        memory_mib: Its memory. Default: 128 MiB.
        one_at_a_time: Whether a second one never runs beside it. Default: it may.
        tried_again: Whether Lambda repeats a failed call. Not when the next minute calls it anyway: a call of before
            is worth nothing then. Default: it does, twice.
    """
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        description=role_description,
        inline_policies={policy_name: iam.PolicyDocument(statements=list(statements))},
    )
    function = lambda_.Function(
        scope,
        "Function",
        description=description,
        runtime=lambda_.Runtime.PYTHON_3_13,
        architecture=lambda_.Architecture.ARM_64,
        handler=handler,
        code=code,
        role=role,
        log_group=log_group,
        memory_size=memory_mib,
        timeout=Duration.seconds(timeout_seconds),
        reserved_concurrent_executions=1 if one_at_a_time else None,
        retry_attempts=None if tried_again else 0,
        max_event_age=None if tried_again else Duration.minutes(1),
        environment=dict(environment),
    )
    # The CDK adds a dependency on the role, which the role's ARN is already; cfn-lint finds one too many (W3005).
    resource = function.node.default_child
    if isinstance(resource, lambda_.CfnFunction):
        resource.add_deletion_override("DependsOn")
    return function


def every_minute(
    scope: Construct, function: lambda_.IFunction, *, description: str
) -> targets.LambdaFunction:
    """Wake up a function every minute, by the child ``EveryMinute``.

    Args:
        scope: The construct.
        function: The function.
        description: What wakes up.

    Returns:
        The function as a target, for further rules that wake it up earlier.
    """
    target = targets.LambdaFunction(function, retry_attempts=0, max_event_age=Duration.minutes(1))
    events.Rule(
        scope,
        "EveryMinute",
        description=description,
        schedule=events.Schedule.rate(Duration.minutes(1)),
        targets=[target],
    )
    return target


def let_alarm_tell(alarm: cloudwatch.Alarm, topic: sns.ITopic) -> None:
    """Let an alarm tell a topic. The policy of a topic from elsewhere has to let CloudWatch publish already.

    Args:
        alarm: The alarm.
        topic: The topic.
    """
    alarm.add_alarm_action(actions.SnsAction(topic))
    if isinstance(topic, sns.Topic):
        # The policy that requires TLS has taken the place of the one that lets the account's services publish.
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="Alarm",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={
                    "ArnEquals": {"aws:SourceArn": alarm.alarm_arn},
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                },
            )
        )
