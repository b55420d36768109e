"""Resources as L2 constructs, as far as an L2 can express them; None where it cannot."""

from collections.abc import Iterator
from typing import Any

from expressions import Call, Static, Struct
from l2_call import new_construct
from l2_network import interface_endpoint, security_group, security_group_rule
from l2_permissions import instance_profile, policy, role, topic_policy

__all__ = ["ABSORBED", "L2_ATTRIBUTES", "l2_statements"]

L2_ATTRIBUTES = {
    ("AWS::CloudWatch::Alarm", "Arn"): "alarm_arn",
    ("AWS::EC2::SecurityGroup", "GroupId"): "security_group_id",
    ("AWS::Events::Rule", "Arn"): "rule_arn",
    ("AWS::IAM::InstanceProfile", "Arn"): "instance_profile_arn",
    ("AWS::IAM::Role", "Arn"): "role_arn",
    ("AWS::IAM::Role", "Ref"): "role_name",
    ("AWS::Lambda::Function", "Arn"): "function_arn",
    ("AWS::Lambda::Function", "Ref"): "function_name",
    ("AWS::Logs::LogGroup", "Arn"): "log_group_arn",
    ("AWS::Logs::LogGroup", "Ref"): "log_group_name",
    ("AWS::S3::Bucket", "Arn"): "bucket_arn",
    ("AWS::S3::Bucket", "Ref"): "bucket_name",
    ("AWS::SNS::Topic", "Ref"): "topic_arn",
    ("AWS::DynamoDB::Table", "Arn"): "table_arn",
    ("AWS::DynamoDB::Table", "Ref"): "table_name",
}
"""The property of an L2 that gives an attribute of its resource."""

_RETENTION = {90: "THREE_MONTHS", 30: "ONE_MONTH", 365: "ONE_YEAR"}


def l2_statements(cluster: Any, place: tuple[str, str]) -> list[Any] | None:
    """Return what defines a resource by an L2 construct; None if there is no L2 that can.

    Args:
        cluster: Gives the resource, and expressions for its references.
        place: Which one.
    """
    resource = cluster.resource(place)
    said = _DEFINITIONS.get(resource["Type"])
    properties = {name: value for name, value in resource.get("Properties", {}).items() if name != "Tags"}
    if said is None:
        return None
    known, define = said
    if not set(properties) <= known:
        return None
    return list(define(cluster, place, properties))


def _retained(cluster: Any, place: tuple[str, str]) -> Static | None:
    retained = cluster.resource(place).get("DeletionPolicy") == "Retain"
    return Static("cdk.RemovalPolicy.RETAIN") if retained else None


def _seconds(seconds: int) -> Call:
    return Call("cdk.Duration.seconds", [seconds])


def _log_group(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    retention = Static(f"logs_.RetentionDays.{_RETENTION[properties['RetentionInDays']]}")
    yield new_construct(
        cluster, place, "logs_.LogGroup", retention=retention, removal_policy=_retained(cluster, place)
    )


def _topic(cluster: Any, place: tuple[str, str], _: dict[str, Any]) -> Iterator[Call]:
    yield new_construct(cluster, place, "sns_.Topic", enforce_ssl=True)


def _table(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    (key,) = properties["AttributeDefinitions"]
    expiry = properties.get("TimeToLiveSpecification", {})
    yield new_construct(
        cluster,
        place,
        "dynamodb_.Table",
        partition_key=Struct(
            "dynamodb_.Attribute",
            {"name": key["AttributeName"], "type": Static("dynamodb_.AttributeType.STRING")},
        ),
        billing_mode=Static("dynamodb_.BillingMode.PAY_PER_REQUEST"),
        point_in_time_recovery_specification=Struct(
            "dynamodb_.PointInTimeRecoverySpecification", {"point_in_time_recovery_enabled": True}
        ),
        time_to_live_attribute=expiry.get("AttributeName"),
        removal_policy=_retained(cluster, place),
    )


def _bucket(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    rule = properties["LifecycleConfiguration"]["Rules"][0]
    noncurrent = rule.get("NoncurrentVersionExpiration", {}).get("NoncurrentDays")
    lifecycle = {
        "id": rule["Id"],
        "abort_incomplete_multipart_upload_after": Call(
            "cdk.Duration.days", [rule["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"]]
        ),
    }
    if noncurrent:
        lifecycle["noncurrent_version_expiration"] = Call("cdk.Duration.days", [noncurrent])
    yield new_construct(
        cluster,
        place,
        "s3_.Bucket",
        versioned=True if "VersioningConfiguration" in properties else None,
        encryption=Static("s3_.BucketEncryption.S3_MANAGED"),
        enforce_ssl=True,
        minimum_tls_version=1.2,
        block_public_access=Static("s3_.BlockPublicAccess.BLOCK_ALL"),
        object_ownership=Static("s3_.ObjectOwnership.BUCKET_OWNER_ENFORCED"),
        removal_policy=_retained(cluster, place),
        lifecycle_rules=[Struct("s3_.LifecycleRule", lifecycle)],
    )


def _function(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    (invoke,) = (
        cluster.resource(each)["Properties"]
        for each in cluster.of_type("AWS::Lambda::EventInvokeConfig")
        if cluster.resource(each)["Properties"]["FunctionName"]["of"] == place
    )
    yield new_construct(
        cluster,
        place,
        "lambda_.Function",
        description=properties["Description"],
        runtime=Static(
            f"lambda_.Runtime.{properties['Runtime'].replace('.', '_').replace('python', 'PYTHON_')}"
        ),
        architecture=Static(
            f"lambda_.Architecture.{properties['Architectures'][0].upper().replace('ARM64', 'ARM_64')}"
        ),
        handler=properties["Handler"],
        code=Call("lambda_.Code.from_asset", [Static("CODE")]),
        role=Static(cluster.variable(properties["Role"]["of"])),
        log_group=Static(cluster.variable(properties["LoggingConfig"]["LogGroup"]["of"])),
        memory_size=properties["MemorySize"],
        timeout=_seconds(properties["Timeout"]),
        retry_attempts=invoke["MaximumRetryAttempts"],
        max_event_age=_seconds(invoke["MaximumEventAgeInSeconds"]),
        environment=cluster.expression(properties["Environment"]["Variables"]),
    )


def _rule(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    (target,) = properties["Targets"]
    policy = target["RetryPolicy"]
    pattern = properties.get("EventPattern")
    expression = properties.get("ScheduleExpression")
    yield new_construct(
        cluster,
        place,
        "events_.Rule",
        description=properties.get("Description"),
        schedule=Call("events_.Schedule.expression", [expression]) if expression else None,
        event_pattern=Struct(
            "events_.EventPattern",
            {name.replace("-", "_"): cluster.expression(each) for name, each in pattern.items()},
        )
        if pattern
        else None,
        targets=[
            Call(
                "events_targets_.LambdaFunction",
                [Static(cluster.variable(target["Arn"]["of"]))],
                {
                    "retry_attempts": policy["MaximumRetryAttempts"],
                    "max_event_age": _seconds(policy["MaximumEventAgeInSeconds"]),
                },
            )
        ],
    )


def _alarm(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    metric = {
        "namespace": properties["Namespace"],
        "metric_name": properties["MetricName"],
        "dimensions_map": {
            each["Name"]: cluster.expression(each["Value"]) for each in properties.get("Dimensions", [])
        },
        "period": _seconds(properties["Period"]),
        "statistic": properties["Statistic"],
    }
    yield new_construct(
        cluster,
        place,
        "cloudwatch_.Alarm",
        alarm_description=properties.get("AlarmDescription"),
        metric=Call("cloudwatch_.Metric", [], metric),
        threshold=properties["Threshold"],
        evaluation_periods=properties["EvaluationPeriods"],
        comparison_operator=Static(
            f"cloudwatch_.ComparisonOperator.{_upper(properties['ComparisonOperator'])}"
        ),
        treat_missing_data=Static(f"cloudwatch_.TreatMissingData.{_upper(properties['TreatMissingData'])}"),
    )
    for action in properties["AlarmActions"]:
        notify = Call("cloudwatch_actions_.SnsAction", [Static(cluster.variable(action["of"]))])
        yield Call(f"{cluster.variable(place)}.add_alarm_action", [notify])


def _upper(name: str) -> str:
    words = "".join(f"_{letter}" if letter.isupper() else letter for letter in name)
    upper = words.strip("_").upper()
    return f"{upper}_THRESHOLD".replace("_THRESHOLD_THRESHOLD", "_THRESHOLD") if "THAN" in upper else upper


def _nothing(_cluster: Any, _place: tuple[str, str]) -> Iterator[Call]:
    return iter(())


ABSORBED = {
    "AWS::EC2::SecurityGroupEgress": security_group_rule,
    "AWS::EC2::SecurityGroupIngress": security_group_rule,
    "AWS::IAM::Policy": policy,
    "AWS::Lambda::EventInvokeConfig": _nothing,
    "AWS::Lambda::Permission": _nothing,
    "AWS::S3::BucketPolicy": _nothing,
    "AWS::SNS::TopicPolicy": topic_policy,
}
"""Resources that the L2 of another one defines, by a call or by itself; None where it does not."""

_DEFINITIONS = {
    "AWS::CloudWatch::Alarm": (
        {
            "AlarmActions",
            "AlarmDescription",
            "ComparisonOperator",
            "Dimensions",
            "EvaluationPeriods",
            "MetricName",
        }
        | {"Namespace", "Period", "Statistic", "Threshold", "TreatMissingData"},
        _alarm,
    ),
    "AWS::EC2::SecurityGroup": ({"GroupDescription", "SecurityGroupEgress", "VpcId"}, security_group),
    "AWS::EC2::VPCEndpoint": (
        # Not those of a gateway: its L2 writes the Region into the service's name as a reference.
        {"PrivateDnsEnabled", "SecurityGroupIds", "ServiceName", "SubnetIds", "VpcEndpointType", "VpcId"},
        interface_endpoint,
    ),
    "AWS::Events::Rule": (
        {"Description", "EventPattern", "ScheduleExpression", "State", "Targets"},
        _rule,
    ),
    "AWS::IAM::InstanceProfile": ({"Roles"}, instance_profile),
    "AWS::IAM::Role": ({"AssumeRolePolicyDocument", "Description", "Policies"}, role),
    "AWS::Lambda::Function": (
        {"Architectures", "Code", "Description", "Environment", "Handler", "LoggingConfig", "MemorySize"}
        | {"Role", "Runtime", "Timeout"},
        _function,
    ),
    "AWS::Logs::LogGroup": ({"RetentionInDays"}, _log_group),
    "AWS::S3::Bucket": (
        {"BucketEncryption", "LifecycleConfiguration", "OwnershipControls", "PublicAccessBlockConfiguration"}
        | {"VersioningConfiguration"},
        _bucket,
    ),
    "AWS::SNS::Topic": (set[str](), _topic),
    "AWS::DynamoDB::Table": (
        {"AttributeDefinitions", "BillingMode", "KeySchema", "PointInTimeRecoverySpecification"}
        | {"TimeToLiveSpecification"},
        _table,
    ),
}
