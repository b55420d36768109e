"""What services report about deployed resources, under the names of CloudFormation."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jmespath
from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.custom_resources import is_custom
from ultracluster_local.cloudformation.providers import Context
from ultracluster_local.cloudformation.removal import resource_context
from ultracluster_local.cloudformation.resource_types import provider_of
from ultracluster_local.cloudformation.stacks import stacks_of
from ultracluster_local.instance.running import running

Properties = Mapping[str, Any]
Shown = Mapping[str, Any] | None


def reported(stack: str, *, region: str) -> dict[str, tuple[dict[str, Any], Shown]]:
    """Return for each resource of a stack what it declares, and what its service reports; None if it is gone."""
    found = {}
    deployed = stacks_of(region).get(stack)
    for resource in deployed.resources.values():
        if not is_custom(resource.resource_type) and resource.resource_type != "AWS::CDK::Metadata":
            context = resource_context(deployed, resource, clients=running().clients)
            shown = _read(context, resource.physical_id, resource.properties)
            found[resource.logical_id] = (dict(resource.properties), shown)
    return found


def _read(context: Context, physical_id: str, properties: Properties) -> Shown:
    kind = context.resource_type
    if kind in _WHOLE:
        return _WHOLE[kind](context, physical_id, properties)
    provider = provider_of(kind)
    shown = provider.read(context, physical_id, properties)
    if not shown:
        return shown
    paths = {**getattr(provider, "sends", {}), **_RENAMED.get(kind, {})}
    renamed = {name: jmespath.search(path, shown) for name, path in paths.items()}
    shown = {**shown, **{name: part for name, part in renamed.items() if part is not None}}
    return {**shown, **_FURTHER[kind](context, physical_id, properties, shown)} if kind in _FURTHER else shown


_BOUNDARY = {"PermissionsBoundary": "PermissionsBoundary.PermissionsBoundaryArn"}
_RENAMED = {
    "AWS::Batch::QuotaShare": {"JobQueue": "jobQueueArn"},
    "AWS::DynamoDB::Table": {
        "BillingMode": "BillingModeSummary.BillingMode",
        "TableClass": "TableClassSummary.TableClass",
    },
    "AWS::EC2::CapacityReservation": {"InstanceCount": "TotalInstanceCount"},
    "AWS::EC2::NatGateway": {"AllocationId": "NatGatewayAddresses[0].AllocationId"},
    "AWS::EC2::VPCEndpoint": {"SecurityGroupIds": "Groups[].GroupId"},
    "AWS::IAM::InstanceProfile": {"Roles": "Roles[].RoleName"},
    "AWS::IAM::Role": _BOUNDARY,
    "AWS::IAM::User": _BOUNDARY,
    "AWS::Lambda::Function": {"Layers": "Layers[].Arn"},
}
"""Paths of properties in descriptions, where the two have different names."""


def _vpc(context: Context, physical_id: str, _: Properties, __: Properties) -> Properties:
    def enabled(attribute: str) -> bool:
        request = {"VpcId": physical_id, "Attribute": attribute}
        answer = context.call("ec2", "DescribeVpcAttribute", request)
        return bool(answer[f"{attribute[0].upper()}{attribute[1:]}"]["Value"])

    return {
        "EnableDnsSupport": enabled("enableDnsSupport"),
        "EnableDnsHostnames": enabled("enableDnsHostnames"),
    }


def _launch_template(context: Context, physical_id: str, _: Properties, __: Properties) -> Properties:
    wanted = {"LaunchTemplateId": physical_id, "Versions": ["$Latest"]}
    answer = context.call("ec2", "DescribeLaunchTemplateVersions", wanted)
    latest: Properties = answer["LaunchTemplateVersions"][0]
    return latest


_PEERS = {
    "IpRanges": "CidrIp",
    "Ipv6Ranges": "CidrIpv6",
    "PrefixListIds": "PrefixListId",
    "UserIdGroupPairs": "GroupId",
}
"""The member that says with whom, by the list of permissions in which a rule stands."""


def _security_group(_: Context, __: str, properties: Properties, shown: Properties) -> Properties:
    """Return the declared rules that are there; other resources may have added more."""
    rules = {}
    for name, permissions in (
        ("SecurityGroupIngress", "IpPermissions"),
        ("SecurityGroupEgress", "IpPermissionsEgress"),
    ):
        there = {one for permission in shown[permissions] for one in _single_rules(permission)}
        rules[name] = [rule for rule in properties.get(name) or [] if _declared_rule(rule) in there]
    return rules


def _single_rules(permission: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    ports = (permission["IpProtocol"], permission.get("FromPort"), permission.get("ToPort"))
    for group, member in _PEERS.items():
        for one in permission.get(group) or []:
            yield (*ports, member, one[member])


def _declared_rule(rule: Properties) -> tuple[Any, ...]:
    ports = (int(rule[key]) if key in rule else None for key in ("FromPort", "ToPort"))
    ((member, peer),) = (
        (member, part) for name, part in rule.items() for member in _PEERS.values() if name.endswith(member)
    )
    return (str(rule["IpProtocol"]), *ports, member, peer)


def _identity(context: Context, physical_id: str, properties: Properties, _: Properties) -> Properties:
    """Return the declared policies and the groups; AWS::IAM::Policy and AWS::IAM::ManagedPolicy may add others."""
    kind = context.resource_type.rsplit("::", 1)[-1]
    owner = {f"{kind}Name": physical_id}
    attached = context.call("iam", f"ListAttached{kind}Policies", owner)["AttachedPolicies"]
    inline = context.call("iam", f"List{kind}Policies", owner)["PolicyNames"]
    declared = [one["PolicyName"] for one in properties.get("Policies") or []]
    own = [
        {
            "PolicyName": name,
            "PolicyDocument": context.call("iam", f"Get{kind}Policy", {**owner, "PolicyName": name})[
                "PolicyDocument"
            ],
        }
        for name in declared
        if name in inline
    ]
    arns = properties.get("ManagedPolicyArns") or []
    found: dict[str, Any] = {
        "ManagedPolicyArns": [one["PolicyArn"] for one in attached if one["PolicyArn"] in arns],
        "Policies": own,
    }
    if kind == "User":
        groups = context.call("iam", "ListGroupsForUser", owner)["Groups"]
        found["Groups"] = [one["GroupName"] for one in groups]
    return found


def _managed_policy(context: Context, physical_id: str, _: Properties, shown: Properties) -> Properties:
    policy = {"PolicyArn": physical_id}
    version = context.call("iam", "GetPolicyVersion", {**policy, "VersionId": shown["DefaultVersionId"]})
    owners = context.call("iam", "ListEntitiesForPolicy", policy)
    named = {
        f"{kind}s": [one[f"{kind}Name"] for one in owners[f"Policy{kind}s"]]
        for kind in ("Role", "User", "Group")
    }
    return {"PolicyDocument": version["PolicyVersion"]["Document"], **named}


def _key(context: Context, physical_id: str, _: Properties, __: Properties) -> Properties:
    key = {"KeyId": physical_id}
    policy = context.call("kms", "GetKeyPolicy", {**key, "PolicyName": "default"})["Policy"]
    tags = context.call("kms", "ListResourceTags", key)["Tags"]
    return {
        "KeyPolicy": json.loads(policy),
        "EnableKeyRotation": context.call("kms", "GetKeyRotationStatus", key)["KeyRotationEnabled"],
        "Tags": [{"Key": tag["TagKey"], "Value": tag["TagValue"]} for tag in tags],
    }


def _alias(context: Context, _: str, properties: Properties, shown: Properties) -> Properties:
    """Return the target in the declared form, which may be an ID or an ARN."""
    declared = {"KeyId": properties["TargetKeyId"]}
    same = shown["TargetKeyId"] == context.call("kms", "DescribeKey", declared)["KeyMetadata"]["KeyId"]
    return {"TargetKeyId": properties["TargetKeyId"] if same else shown["TargetKeyId"]}


def _bucket(context: Context, physical_id: str, _: Properties, __: Properties) -> Properties:
    shown: dict[str, Any] = {}
    for name, operation, pick in _BUCKET_SETTINGS:
        try:
            shown[name] = pick(context.call("s3", operation, {"Bucket": physical_id}))
        except ClientError:  # the setting is absent
            shown[name] = None
    return shown


def _encryption(answer: Mapping[str, Any]) -> dict[str, Any]:
    rules = [
        {
            "ServerSideEncryptionByDefault": rule["ApplyServerSideEncryptionByDefault"],
            **{key: rule[key] for key in ("BucketKeyEnabled",) if key in rule},
        }
        for rule in answer["ServerSideEncryptionConfiguration"]["Rules"]
    ]
    return {"ServerSideEncryptionConfiguration": rules}


def _lifecycle(answer: Mapping[str, Any]) -> dict[str, Any]:
    rules = []
    for rule in answer["Rules"]:
        one = {key: part for key, part in rule.items() if key not in {"Filter", "Transitions", "Expiration"}}
        one["Id"] = rule["ID"]
        one["Prefix"] = (rule.get("Filter") or {}).get("Prefix", "")
        if "Transitions" in rule:
            one["Transitions"] = [
                {"TransitionInDays": part.get("Days"), "StorageClass": part["StorageClass"]}
                for part in rule["Transitions"]
            ]
        if "Days" in (rule.get("Expiration") or {}):
            one["ExpirationInDays"] = rule["Expiration"]["Days"]
        rules.append(one)
    return {"Rules": rules}


def _replication(answer: Mapping[str, Any]) -> dict[str, Any]:
    configuration = answer["ReplicationConfiguration"]
    rules = [
        {"Id" if key == "ID" else key: part for key, part in rule.items()} for rule in configuration["Rules"]
    ]
    return {"Role": configuration["Role"], "Rules": rules}


def _metrics(answer: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    shown = [
        {"Id": one["Id"], **({"Prefix": one["Filter"]["Prefix"]} if "Filter" in one else {})}
        for one in answer.get("MetricsConfigurationList", [])
    ]
    return shown or None


_BUCKET_SETTINGS: tuple[tuple[str, str, Callable[[Mapping[str, Any]], Any]], ...] = (
    ("VersioningConfiguration", "GetBucketVersioning", lambda answer: answer),
    (
        "PublicAccessBlockConfiguration",
        "GetPublicAccessBlock",
        lambda answer: answer["PublicAccessBlockConfiguration"],
    ),
    ("Tags", "GetBucketTagging", lambda answer: answer["TagSet"]),
    ("BucketEncryption", "GetBucketEncryption", _encryption),
    ("LifecycleConfiguration", "GetBucketLifecycleConfiguration", _lifecycle),
    ("MetricsConfigurations", "ListBucketMetricsConfigurations", _metrics),
    ("ReplicationConfiguration", "GetBucketReplication", _replication),
)
"""Property, operation that reads it, and conversion of its response to CloudFormation's form."""


def _rule(context: Context, _: str, properties: Properties, shown: Properties) -> Properties:
    request = {"Rule": shown["Name"], "EventBusName": properties.get("EventBusName", "default")}
    targets = context.call("events", "ListTargetsByRule", request)["Targets"]
    pattern = {"EventPattern": json.loads(shown["EventPattern"])} if shown.get("EventPattern") else {}
    return {"Targets": targets, **pattern}


def _table(context: Context, physical_id: str, _: Properties, __: Properties) -> Properties:
    table = {"TableName": physical_id}
    backups = context.call("dynamodb", "DescribeContinuousBackups", table)["ContinuousBackupsDescription"]
    on = backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    expiry = context.call("dynamodb", "DescribeTimeToLive", table)["TimeToLiveDescription"]
    status = expiry.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"}
    return {
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": on},
        "TimeToLiveSpecification": {"AttributeName": expiry.get("AttributeName"), "Enabled": status},
    }


_FURTHER: dict[str, Callable[[Context, str, Properties, Properties], Properties]] = {
    "AWS::AutoScaling::AutoScalingGroup": lambda _, __, ___, shown: {
        "VPCZoneIdentifier": shown["VPCZoneIdentifier"].split(",")
    },
    "AWS::CloudWatch::Dashboard": lambda _, __, ___, shown: {
        "DashboardBody": json.dumps(json.loads(shown["DashboardBody"]))
    },
    "AWS::DynamoDB::Table": _table,
    "AWS::EC2::LaunchTemplate": _launch_template,
    "AWS::EC2::SecurityGroup": _security_group,
    "AWS::EC2::VPC": _vpc,
    "AWS::Events::Rule": _rule,
    "AWS::IAM::Group": _identity,
    "AWS::IAM::ManagedPolicy": _managed_policy,
    "AWS::IAM::Role": _identity,
    "AWS::IAM::User": _identity,
    "AWS::KMS::Alias": _alias,
    "AWS::KMS::Key": _key,
    "AWS::S3::Bucket": _bucket,
    "AWS::S3::BucketPolicy": lambda _, bucket, ___, shown: {
        "Bucket": bucket,
        "PolicyDocument": json.loads(shown["Policy"]),
    },
}
"""Properties that the description of a resource lacks, or has in another form."""


def _nested_stack(context: Context, physical_id: str, properties: Properties) -> Shown:
    return properties if stacks_of(context.region).get(physical_id).status != "DELETE_COMPLETE" else None


def _cidr_block(context: Context, physical_id: str, properties: Properties) -> Shown:
    vpcs = context.call("ec2", "DescribeVpcs", {"VpcIds": [properties["VpcId"]]})["Vpcs"]
    found = (one for one in vpcs[0]["CidrBlockAssociationSet"] if one["AssociationId"] == physical_id)
    return next(({"VpcId": properties["VpcId"], **one} for one in found), None)


def _route(context: Context, _: str, properties: Properties) -> Shown:
    table = {"RouteTableIds": [properties["RouteTableId"]]}
    routes = context.call("ec2", "DescribeRouteTables", table)["RouteTables"][0]["Routes"]
    keys = {"DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId"} & set(properties)
    found = (one for one in routes if all(one.get(key) == properties[key] for key in keys))
    return next(({"RouteTableId": properties["RouteTableId"], **one} for one in found), None)


def _gateway_attachment(context: Context, _: str, properties: Properties) -> Shown:
    wanted = {"InternetGatewayIds": [properties["InternetGatewayId"]]}
    attachments = context.call("ec2", "DescribeInternetGateways", wanted)["InternetGateways"][0][
        "Attachments"
    ]
    return properties if properties["VpcId"] in [one["VpcId"] for one in attachments] else None


def _security_group_rule(context: Context, physical_id: str, properties: Properties) -> Shown:
    wanted = {"Filters": [{"Name": "group-id", "Values": [properties["GroupId"]]}]}
    for rule in context.call("ec2", "DescribeSecurityGroupRules", wanted)["SecurityGroupRules"]:
        if rule["SecurityGroupRuleId"] == physical_id:
            other = (rule.get("ReferencedGroupInfo") or {}).get("GroupId")
            names = {
                "SourceSecurityGroupId": other,
                "DestinationSecurityGroupId": other,
                "CidrIp": rule.get("CidrIpv4"),
            }
            return {**rule, **{name: value for name, value in names.items() if value}}
    return None


def _inline_policy(context: Context, _: str, properties: Properties) -> Shown:
    """Read the policy from its first owner, with the owners that still have it."""
    documents: list[Any] = []
    owners: dict[str, list[str]] = {"Roles": [], "Users": [], "Groups": []}
    for plural, kept in owners.items():
        kind = plural.removesuffix("s")
        for owner in properties.get(plural) or []:
            request = {f"{kind}Name": owner, "PolicyName": properties["PolicyName"]}
            try:
                documents.append(context.call("iam", f"Get{kind}Policy", request)["PolicyDocument"])
            except ClientError:
                continue
            kept.append(owner)
    if not documents:
        return None
    return {"PolicyName": properties["PolicyName"], "PolicyDocument": documents[0], **owners}


def _topic_policy(context: Context, _: str, properties: Properties) -> Shown:
    return _policy(context, "sns", "GetTopicAttributes", {"TopicArn": properties["Topics"][0]})


def _queue_policy(context: Context, _: str, properties: Properties) -> Shown:
    first = {"QueueUrl": properties["Queues"][0], "AttributeNames": ["Policy"]}
    return _policy(context, "sqs", "GetQueueAttributes", first)


def _policy(context: Context, service: str, operation: str, target: Mapping[str, Any]) -> Shown:
    try:
        text = context.call(service, operation, target).get("Attributes", {}).get("Policy")
    except ClientError:
        return None
    return {"PolicyDocument": json.loads(text)} if text else None


def _permission(context: Context, physical_id: str, properties: Properties) -> Shown:
    function = {"FunctionName": properties["FunctionName"]}
    try:
        policy = context.call("lambda", "GetPolicy", function)["Policy"]
    except ClientError:
        return None
    for statement in json.loads(policy)["Statement"]:
        if statement["Sid"] == physical_id:
            principal = statement["Principal"]
            condition = {
                name.removeprefix("AWS:"): value
                for part in (statement.get("Condition") or {}).values()
                for name, value in part.items()
                if name in {"AWS:SourceArn", "AWS:SourceAccount"}
            }
            return {
                **function,
                "Action": statement["Action"],
                "Principal": next(iter(principal.values())) if isinstance(principal, dict) else principal,
                **condition,
            }
    return None


def _metric_filter(context: Context, physical_id: str, properties: Properties) -> Shown:
    asked = {"logGroupName": properties["LogGroupName"], "filterNamePrefix": physical_id}
    for one in context.call("logs", "DescribeMetricFilters", asked)["metricFilters"]:
        if one["filterName"] == physical_id:
            return one | {
                "metricTransformations": [_transformation(each) for each in one["metricTransformations"]]
            }
    return None


def _transformation(each: Mapping[str, Any]) -> dict[str, Any]:
    dimensions = [{"Key": key, "Value": value} for key, value in (each.get("dimensions") or {}).items()]
    rest = {key: value for key, value in each.items() if key != "dimensions"}
    return {**rest, "dimensions": dimensions} if dimensions else rest


_WHOLE: dict[str, Callable[[Context, str, Properties], Shown]] = {
    "AWS::CloudFormation::Stack": _nested_stack,
    "AWS::EC2::Route": _route,
    "AWS::EC2::SecurityGroupEgress": _security_group_rule,
    "AWS::EC2::SecurityGroupIngress": _security_group_rule,
    "AWS::EC2::VPCCidrBlock": _cidr_block,
    "AWS::EC2::VPCGatewayAttachment": _gateway_attachment,
    "AWS::IAM::Policy": _inline_policy,
    "AWS::Lambda::Permission": _permission,
    "AWS::Logs::MetricFilter": _metric_filter,
    "AWS::SNS::TopicPolicy": _topic_policy,
    "AWS::SQS::QueuePolicy": _queue_policy,
}
"""Types that no operation describes by their physical ID alone."""
