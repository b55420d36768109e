"""Resources as L2 constructs, as far as an L2 can express them; None where it cannot."""

from collections.abc import Iterator
from typing import Any

from expressions import Attribute, Call, Static, Struct

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
    ("AWS::SSM::Parameter", "Ref"): "parameter_name",
}
"""The property of an L2 that gives an attribute of its resource."""

_RETENTION = {90: "THREE_MONTHS", 30: "ONE_MONTH", 365: "ONE_YEAR"}
_NO_EGRESS = "Disallow all traffic"  # what the CDK adds to a group without a rule for what leaves it
_TLS_ONLY = "AllowPublishThroughSSLOnly"  # what enforce_ssl of a topic adds


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


def _new(cluster: Any, place: tuple[str, str], name: str, **options: Any) -> Call:
    given = {key: value for key, value in options.items() if value is not None}
    return Call(name, [Static(cluster.stack(place)), place[1]], given, variable=cluster.variable(place))


def _retained(cluster: Any, place: tuple[str, str]) -> Static | None:
    retained = cluster.resource(place).get("DeletionPolicy") == "Retain"
    return Static("cdk.RemovalPolicy.RETAIN") if retained else None


def _statement(cluster: Any, statement: dict[str, Any]) -> Call:
    options: dict[str, Any] = {}
    if "Sid" in statement:
        options["sid"] = statement["Sid"]
    if statement["Effect"] == "Deny":
        options["effect"] = Static("iam_.Effect.DENY")
    options["actions"] = _listed(statement["Action"])
    if "Resource" in statement:
        options["resources"] = cluster.expression(_listed(statement["Resource"]))
    if "Condition" in statement:
        options["conditions"] = cluster.expression(statement["Condition"])
    if "Principal" in statement:
        options["principals"] = [_principal(cluster, statement["Principal"])]
    return Call("iam_.PolicyStatement", [], options)


def _principal(cluster: Any, principal: dict[str, Any], condition: Any = None) -> Call:
    options = {"conditions": cluster.expression(condition)} if condition else {}
    return Call("iam_.ServicePrincipal", [principal["Service"]], options)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _seconds(seconds: int) -> Call:
    return Call("cdk.Duration.seconds", [seconds])


def _role(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    trust = properties["AssumeRolePolicyDocument"]["Statement"][0]
    inline = {
        policy["PolicyName"]: Call(
            "iam_.PolicyDocument",
            [],
            {"statements": [_statement(cluster, each) for each in policy["PolicyDocument"]["Statement"]]},
        )
        for policy in properties.get("Policies", [])
    }
    yield _new(
        cluster,
        place,
        "iam_.Role",
        assumed_by=_principal(cluster, trust["Principal"], trust.get("Condition")),
        description=properties.get("Description"),
        inline_policies=inline or None,
    )


def _instance_profile(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    role = Static(cluster.variable(properties["Roles"][0]["of"]))
    yield _new(cluster, place, "iam_.InstanceProfile", role=role)


def _log_group(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    retention = Static(f"logs_.RetentionDays.{_RETENTION[properties['RetentionInDays']]}")
    yield _new(
        cluster, place, "logs_.LogGroup", retention=retention, removal_policy=_retained(cluster, place)
    )


def _topic(cluster: Any, place: tuple[str, str], _: dict[str, Any]) -> Iterator[Call]:
    yield _new(cluster, place, "sns_.Topic", enforce_ssl=True)


def _parameter(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    yield _new(
        cluster,
        place,
        "ssm_.StringParameter",
        string_value=properties["Value"],
        description=properties.get("Description"),
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
    yield _new(
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
    yield _new(
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
        reserved_concurrent_executions=properties["ReservedConcurrentExecutions"],
        retry_attempts=invoke["MaximumRetryAttempts"],
        max_event_age=_seconds(invoke["MaximumEventAgeInSeconds"]),
        environment=cluster.expression(properties["Environment"]["Variables"]),
    )


def _rule(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    (target,) = properties["Targets"]
    policy = target["RetryPolicy"]
    pattern = properties.get("EventPattern")
    expression = properties.get("ScheduleExpression")
    yield _new(
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
    yield _new(
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


def _security_group(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    yield _vpc(cluster, place)
    yield _new(
        cluster,
        place,
        "ec2_.SecurityGroup",
        vpc=Static(f"vpc_of_{cluster.variable(place)}"),
        description=properties["GroupDescription"],
        allow_all_outbound=False,
    )
    for rule in properties.get("SecurityGroupEgress", []):
        if rule["Description"] != _NO_EGRESS:
            yield Call(
                f"{cluster.variable(place)}.add_egress_rule",
                [Call("ec2_.Peer.ipv4", [rule["CidrIp"]]), _port(rule), rule["Description"]],
            )


def _vpc(cluster: Any, place: tuple[str, str]) -> Call:
    (vpc,) = cluster.of_type("AWS::EC2::VPC")
    return Call(
        "ec2_.Vpc.from_vpc_attributes",
        [Static(cluster.stack(place)), f"Vpc of {place[1]}"],
        {"vpc_id": Attribute(cluster.variable(vpc), "ref"), "availability_zones": ["zone"]},
        variable=f"vpc_of_{cluster.variable(place)}",
    )


def _port(rule: dict[str, Any]) -> Call:
    if rule["IpProtocol"] == "-1":
        return Call("ec2_.Port.all_traffic", [])
    if rule["FromPort"] == rule["ToPort"]:
        return Call("ec2_.Port.tcp", [rule["FromPort"]])
    return Call("ec2_.Port.tcp_range", [rule["FromPort"], rule["ToPort"]])


def _interface_endpoint(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    subnet = f"subnet_of_{cluster.variable(place)}"
    ((subnet_place,), (routes,)) = (cluster.of_type(f"AWS::EC2::{kind}") for kind in ("Subnet", "RouteTable"))
    yield _vpc(cluster, place)
    yield Call(
        "ec2_.Subnet.from_subnet_attributes",
        [Static(cluster.stack(place)), f"Subnet of {place[1]}"],
        {
            "subnet_id": Attribute(cluster.variable(subnet_place), "ref"),
            "availability_zone": "zone",
            "route_table_id": Attribute(cluster.variable(routes), "ref"),
        },
        variable=subnet,
    )
    selection = Struct("ec2_.SubnetSelection", {"subnets": [Static(subnet)]})
    vpc = Static(f"vpc_of_{cluster.variable(place)}")
    yield _new(
        cluster,
        place,
        "ec2_.InterfaceVpcEndpoint",
        vpc=vpc,
        service=Call("ec2_.InterfaceVpcEndpointService", [properties["ServiceName"], 443]),
        subnets=selection,
        security_groups=[Static(cluster.variable(each["of"])) for each in properties["SecurityGroupIds"]],
        private_dns_enabled=properties["PrivateDnsEnabled"],
        open=False,
    )


def _policy(cluster: Any, place: tuple[str, str]) -> Iterator[Call] | None:
    properties = cluster.resource(place)["Properties"]
    role = properties["Roles"][0]["of"]
    if not cluster.is_l2(role):
        return None
    return (
        Call(f"{cluster.variable(role)}.add_to_policy", [_statement(cluster, each)])
        for each in properties["PolicyDocument"]["Statement"]
    )


def _topic_policy(cluster: Any, place: tuple[str, str]) -> Iterator[Call]:
    properties = cluster.resource(place)["Properties"]
    topic = cluster.variable(properties["Topics"][0]["of"])
    return (
        Call(f"{topic}.add_to_resource_policy", [_statement(cluster, each)])
        for each in properties["PolicyDocument"]["Statement"]
        if each["Sid"] != _TLS_ONLY
    )


def _security_group_rule(cluster: Any, place: tuple[str, str]) -> Iterator[Call] | None:
    resource = cluster.resource(place)
    properties = resource["Properties"]
    inwards = resource["Type"].endswith("Ingress")
    group = properties["GroupId"]["of"]
    peer = properties["SourceSecurityGroupId" if inwards else "DestinationSecurityGroupId"]["of"]
    # The CDK adds a rule to the stack of its group; from another stack it would make the two depend on each other.
    if not (cluster.is_l2(group) and cluster.is_l2(peer) and group[0] == place[0]):
        return None
    if not inwards and _only_says_that_nothing_may_leave(cluster.resource(group)):
        return None  # the L2 would take that away
    method = "add_ingress_rule" if inwards else "add_egress_rule"
    arguments = [Static(cluster.variable(peer)), _port(properties), properties["Description"]]
    return iter([Call(f"{cluster.variable(group)}.{method}", arguments)])


def _only_says_that_nothing_may_leave(group: dict[str, Any]) -> bool:
    rules = group["Properties"].get("SecurityGroupEgress", [])
    return [rule["Description"] for rule in rules] == [_NO_EGRESS]


def _nothing(_cluster: Any, _place: tuple[str, str]) -> Iterator[Call]:
    return iter(())


ABSORBED = {
    "AWS::EC2::SecurityGroupEgress": _security_group_rule,
    "AWS::EC2::SecurityGroupIngress": _security_group_rule,
    "AWS::IAM::Policy": _policy,
    "AWS::Lambda::EventInvokeConfig": _nothing,
    "AWS::Lambda::Permission": _nothing,
    "AWS::S3::BucketPolicy": _nothing,
    "AWS::SNS::TopicPolicy": _topic_policy,
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
    "AWS::EC2::SecurityGroup": ({"GroupDescription", "SecurityGroupEgress", "VpcId"}, _security_group),
    "AWS::EC2::VPCEndpoint": (
        # Not those of a gateway: its L2 writes the Region into the service's name as a reference.
        {"PrivateDnsEnabled", "SecurityGroupIds", "ServiceName", "SubnetIds", "VpcEndpointType", "VpcId"},
        _interface_endpoint,
    ),
    "AWS::Events::Rule": (
        {"Description", "EventPattern", "ScheduleExpression", "State", "Targets"},
        _rule,
    ),
    "AWS::IAM::InstanceProfile": ({"Roles"}, _instance_profile),
    "AWS::IAM::Role": ({"AssumeRolePolicyDocument", "Description", "Policies"}, _role),
    "AWS::Lambda::Function": (
        {"Architectures", "Code", "Description", "Environment", "Handler", "LoggingConfig", "MemorySize"}
        | {"ReservedConcurrentExecutions", "Role", "Runtime", "Timeout"},
        _function,
    ),
    "AWS::Logs::LogGroup": ({"RetentionInDays"}, _log_group),
    "AWS::S3::Bucket": (
        {"BucketEncryption", "LifecycleConfiguration", "OwnershipControls", "PublicAccessBlockConfiguration"}
        | {"VersioningConfiguration"},
        _bucket,
    ),
    "AWS::SNS::Topic": (set[str](), _topic),
    "AWS::SSM::Parameter": ({"Description", "Type", "Value"}, _parameter),
}
