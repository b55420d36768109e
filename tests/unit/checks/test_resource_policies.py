"""Rules for the policies of topics and keys."""

from typing import Any

import pytest
from tests.unit.checks.edits import codes_after, statement

from ultracluster_checks import Source, check_templates

ALARM = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"OKActions": [{"Ref": "Topic"}]}}
RULE = {
    "Type": "AWS::Events::Rule",
    "Properties": {"Targets": [{"Id": "topic", "Arn": {"Fn::GetAtt": ["Topic", "TopicArn"]}}]},
}
BUDGET = {
    "Type": "AWS::Budgets::Budget",
    "Properties": {
        "NotificationsWithSubscribers": [
            {"Subscribers": [{"SubscriptionType": "SNS", "Address": {"Ref": "Topic"}}]}
        ]
    },
}
ACCOUNT = statement(Action="kms:*", Principal={"AWS": "arn:aws:iam::123456789012:root"})


def topic(sender: dict[str, Any], *statements: dict[str, Any], key: Any = None) -> dict[str, Any]:
    """Return a topic that a resource notifies, with a policy of these statements, if any."""
    resources = {
        "/Resources/Topic": {
            "Type": "AWS::SNS::Topic",
            "Properties": {} if key is None else {"KmsMasterKeyId": key},
        },
        "/Resources/Sender": sender,
    }
    if statements:
        resources["/Resources/TopicPolicy"] = {
            "Type": "AWS::SNS::TopicPolicy",
            "Properties": {"Topics": [{"Ref": "Topic"}], "PolicyDocument": {"Statement": list(statements)}},
        }
    return resources


def key(*statements: dict[str, Any]) -> dict[str, Any]:
    """Return a key whose policy has these statements beside that of the account, and an alias of it."""
    return {
        "/Resources/Key": {
            "Type": "AWS::KMS::Key",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {"EnableKeyRotation": True, "KeyPolicy": {"Statement": [ACCOUNT, *statements]}},
        },
        "/Resources/Alias": {"Type": "AWS::KMS::Alias", "Properties": {"TargetKeyId": {"Ref": "Key"}}},
    }


def publish(*services: Any, **members: Any) -> dict[str, Any]:
    """Return a statement that lets services publish."""
    return statement(Action="SNS:Publish", Principal={"Service": list(services)}, **members)


def encrypt(service: Any, *actions: str) -> dict[str, Any]:
    """Return a statement that lets a service use a key."""
    return statement(
        Action=[*actions] or ["kms:Decrypt", "kms:GenerateDataKey*"], Principal={"Service": service}
    )


def logs(at: Any) -> dict[str, Any]:
    """Return a log group with a key."""
    return {
        "/Resources/Logs": {
            "Type": "AWS::Logs::LogGroup",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {"KmsKeyId": at, "RetentionInDays": 30},
        }
    }


CLOUDWATCH, EVENTS, BUDGETS = "cloudwatch.amazonaws.com", "events.amazonaws.com", "budgets.amazonaws.com"
ALIAS = {"Ref": "Alias"}
LOGS = {"Fn::Sub": "logs.${AWS::Region}.${AWS::URLSuffix}"}

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6426", "block-nodes", topic(ALARM, publish(EVENTS))),
    ("UC6426", "block-nodes", topic(ALARM, publish(CLOUDWATCH) | {"Effect": "Deny"})),
    ("UC6426", "block-nodes", topic(ALARM, publish(CLOUDWATCH) | {"Action": "SNS:Subscribe"})),
    ("UC6426", "block-nodes", topic(BUDGET)),
    ("UC6426", "block-nodes", topic(RULE)),
    ("UC6426", "block-nodes", topic(RULE, publish(CLOUDWATCH, BUDGETS))),
    ("UC6427", "block-nodes", topic(ALARM, key="alias/aws/sns")),
    ("UC6427", "block-nodes", topic(ALARM, key=ALIAS) | key(encrypt(EVENTS))),
    ("UC6427", "block-nodes", topic(ALARM, key=ALIAS) | key(encrypt(CLOUDWATCH, "kms:Decrypt"))),
    ("UC6428", "block-nodes", logs({"Fn::GetAtt": ["Key", "Arn"]}) | key()),
    ("UC6428", "block-nodes", logs({"Fn::GetAtt": ["Key", "Arn"]}) | key(encrypt(CLOUDWATCH))),
)

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("block-nodes", topic(ALARM)),
    ("block-nodes", topic(ALARM, publish(EVENTS, CLOUDWATCH))),
    # What SNS writes itself, and what people keep of it: an alarm publishes as its account.
    ("block-nodes", topic(ALARM, publish() | {"Principal": {"AWS": "123456789012"}})),
    ("block-nodes", topic(RULE, publish({"Ref": "AWS::StackName"}))),
    ("block-nodes", topic(BUDGET, publish(BUDGETS))),
    ("block-nodes", topic(ALARM, key=ALIAS) | key(encrypt(CLOUDWATCH))),
    ("block-nodes", topic(ALARM, key="alias/alarms")),
    ("block-nodes", logs({"Fn::GetAtt": ["Key", "Arn"]}) | key(encrypt(LOGS))),
    ("block-nodes", logs("arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef")),
)


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == [code]


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []


OTHER = {"AWS": "arn:aws:iam::999988887777:root"}
EVERYONE = {"AWS": "*"}
HERE = {"Ref": "AWS::AccountId"}
VIA = {"StringEquals": {"kms:ViaService": "s3.us-east-2.amazonaws.com"}}
POLICIES = {
    "Backup::BackupVault": "AccessPolicy",
    "EFS::FileSystem": "FileSystemPolicy",
    "KMS::Key": "KeyPolicy",
    "S3::BucketPolicy": "PolicyDocument",
    "SNS::TopicPolicy": "PolicyDocument",
    "EC2::VPCEndpoint": "PolicyDocument",
    "IAM::Role": "AssumeRolePolicyDocument",
}


def found(kind: str, one: dict[str, Any], **others: Any) -> set[str]:
    """Return the codes of a resource whose policy has one statement, in a template that knows its account."""
    resource = {"Type": f"AWS::{kind}", "Properties": {POLICIES[kind]: {"Statement": [one]}, **others}}
    body = {"Resources": {"It": resource}, "Outputs": {"Account": {"Value": HERE}}}
    return {each.code for each in check_templates([Source(name="it", body=body)]).findings}


@pytest.mark.parametrize(
    ("code", "kind", "broken", "kept"),
    [
        ("UC6421", "Backup::BackupVault", {"Principal": "*"}, {"Principal": {"AWS": HERE}}),
        ("UC6421", "EFS::FileSystem", {"Principal": "*"}, {"Principal": {"AWS": HERE}}),
        (
            "UC6421",
            "KMS::Key",
            {"Principal": EVERYONE, "Condition": VIA},
            {"Principal": EVERYONE, "Condition": {"StringEquals": {**VIA["StringEquals"], "kms:CallerAccount": HERE}}},
        ),
        (
            "UC6421",
            "S3::BucketPolicy",
            {"Principal": "*", "Condition": {"StringLike": {"aws:PrincipalOrgID": "o-*"}}},
            {"Principal": "*", "Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}}},
        ),
        ("UC6420", "S3::BucketPolicy", {"Principal": OTHER, "Action": "s3:*"}, {"Principal": OTHER}),
        (
            "UC6457",
            "SNS::TopicPolicy",
            {"Principal": {"Service": "budgets.amazonaws.com"}},
            {"Principal": {"Service": "budgets.amazonaws.com"}, "Condition": {"StringEquals": {"aws:SourceAccount": HERE}}},
        ),
    ],
)  # fmt: skip
def test_a_policy_says_who_may_do_what_and_for_whom(
    code: str, kind: str, broken: dict[str, Any], kept: dict[str, Any]
) -> None:
    action = {"Action": "kms:Decrypt" if kind == "KMS::Key" else "s3:GetObject"}

    assert code in found(kind, statement(**{**action, **broken}))
    assert code not in found(kind, statement(**{**action, **kept}))


@pytest.mark.parametrize(
    ("subject", "open_"), [("repo:example/*", True), ("repo:example/train:ref:refs/heads/main", False)]
)
def test_a_workflow_is_of_one_repository(subject: str, open_: bool) -> None:
    provider = "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"
    condition = {"StringLike": {"token.actions.githubusercontent.com:sub": subject}}
    one = {
        "Effect": "Allow",
        "Principal": {"Federated": provider},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": condition,
    }

    assert ("UC6421" in found("IAM::Role", one)) is open_


def test_the_endpoint_of_a_closed_network_leads_to_named_buckets() -> None:
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    gateway = {"Type": "AWS::EC2::VPCGatewayAttachment", "Properties": {"VpcId": {"Ref": "Net"}}}
    one = statement(Action="s3:*", Principal="*")
    endpoint = {
        "Type": "AWS::EC2::VPCEndpoint",
        "Properties": {
            "VpcId": {"Ref": "Net"},
            "ServiceName": "com.amazonaws.us-east-2.s3",
            "PolicyDocument": {"Statement": [one]},
        },
    }

    def broken(**more: Any) -> bool:
        body = {"Resources": {"Net": vpc, "S3": endpoint, **more}}
        return "UC6470" in {each.code for each in check_templates([Source(name="it", body=body)]).findings}

    assert broken()
    assert not broken(Way=gateway)
    one["Resource"] = "arn:aws:s3:::data/*"
    assert not broken()


def test_a_rule_of_any_account_may_not_invoke_a_function() -> None:
    permission: dict[str, Any] = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {"Principal": "events.amazonaws.com"},
    }
    source = Source(name="it", body={"Resources": {"It": permission}})

    assert [each.code for each in check_templates([source]).findings] == ["UC6457"]
    permission["Properties"]["SourceArn"] = "arn:aws:events:us-east-2:123456789012:rule/each"
    assert check_templates([source]).findings == ()


@pytest.mark.parametrize(
    ("principal", "found"),
    [
        ("events.amazonaws.com", False),
        ("999999999999", True),
        ("arn:aws:iam::999999999999:role/other", True),
        ({"Ref": "AWS::AccountId"}, False),
    ],
)
def test_a_permission_for_another_account_is_found(principal: Any, found: bool) -> None:
    permission = {
        "Type": "AWS::Lambda::Permission",
        "Properties": {
            "Principal": principal,
            "SourceArn": {"Fn::Sub": "arn:aws:events:us-east-2:${AWS::AccountId}:rule/each"},
        },
    }
    report = check_templates([Source(name="it", body={"Resources": {"It": permission}})])

    assert ("UC6454" in {each.code for each in report.findings}) is found


def received(kind: str, sender: dict[str, Any], **more: Any) -> set[str]:
    """Return the codes for a sender beside a queue whose policy has a statement for a service, and for a source."""
    allowed = {"Effect": "Allow", "Action": "sqs:SendMessage", "Principal": {"Service": f"{kind}.amazonaws.com"}} | more  # fmt: skip
    body = {
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {}},
        "Topic": {"Type": "AWS::SNS::Topic"},
        "Policy": {"Type": "AWS::SQS::QueuePolicy", "Properties": {"Queues": [{"Ref": "Queue"}], "PolicyDocument": {"Statement": [allowed]}}},
        "Sender": sender,
        "Other": sender,
    }  # fmt: skip
    report = check_templates([Source(name="it", body={"Resources": body})])
    return {each.path.partition(".")[0] for each in report.findings if each.code == "UC6426"}


QUEUE = {"Fn::GetAtt": ["Queue", "Arn"]}
OF_SENDER = {"Condition": {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": ["Sender", "Arn"]}}}}
EVERY = {"Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:events:*:*:rule/*"}}}
TO_QUEUE: dict[str, dict[str, Any]] = {
    "events": {"Type": "AWS::Events::Rule", "Properties": {"Targets": [{"Id": "queue", "Arn": QUEUE}]}},
    "sns": {"Type": "AWS::SNS::Subscription", "Properties": {"TopicArn": {"Ref": "Topic"}, "Protocol": "sqs", "Endpoint": QUEUE}},
    "s3": {"Type": "AWS::S3::Bucket", "Properties": {"NotificationConfiguration": {"QueueConfigurations": [{"Event": "s3:ObjectCreated:*", "Queue": QUEUE}]}}},
}  # fmt: skip


@pytest.mark.parametrize("service", TO_QUEUE)
def test_a_queue_admits_the_service_that_sends_to_it_or_loses_everything(service: str) -> None:
    assert received(service, TO_QUEUE[service]) == set()
    assert received("scheduler", TO_QUEUE[service]) == {"Policy"}


def test_a_queue_that_admits_one_rule_loses_the_events_of_another() -> None:
    assert received("events", TO_QUEUE["events"], **EVERY) == set()
    assert received("events", TO_QUEUE["events"], **OF_SENDER) == {"Policy"}


@pytest.mark.parametrize(("service", "lost"), [("logging.s3", set()), ("config", {"UC6426"})])
def test_a_bucket_admits_the_access_logs_of_another(service: str, lost: set[str]) -> None:
    allowed = {
        "Effect": "Allow",
        "Action": "s3:PutObject",
        "Principal": {"Service": f"{service}.amazonaws.com"},
    }
    body = {
        "Logs": {"Type": "AWS::S3::Bucket"},
        "Data": {"Type": "AWS::S3::Bucket", "Properties": {"LoggingConfiguration": {"DestinationBucketName": {"Ref": "Logs"}}}},
        "Policy": {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": {"Ref": "Logs"}, "PolicyDocument": {"Statement": [allowed]}}},
    }  # fmt: skip
    report = check_templates([Source(name="it", body={"Resources": body})])

    assert {each.code for each in report.findings} & {"UC6426"} == lost


@pytest.mark.parametrize(("name", "found"), [("training-runs", False), ("runs", True), ("*-runs", False)])
def test_a_condition_names_the_topic_whose_name_has_a_gap(name: str, *, found: bool) -> None:
    queue = {"Fn::GetAtt": ["Inbox", "Arn"]}
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "sns.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": queue,
        "Condition": {
            "ArnLike": {"aws:SourceArn": {"Fn::Sub": f"arn:aws:sns:us-east-2:${{AWS::AccountId}}:{name}"}}
        },
    }
    resources = {
        "Topic": {
            "Type": "AWS::SNS::Topic",
            "Properties": {"TopicName": {"Fn::Sub": "${AWS::StackName}-runs"}},
        },
        "Inbox": {"Type": "AWS::SQS::Queue", "Properties": {}},
        "Policy": {
            "Type": "AWS::SQS::QueuePolicy",
            "Properties": {"Queues": [{"Ref": "Inbox"}], "PolicyDocument": {"Statement": [statement]}},
        },
        "Read": {
            "Type": "AWS::SNS::Subscription",
            "Properties": {"TopicArn": {"Ref": "Topic"}, "Protocol": "sqs", "Endpoint": queue},
        },
    }
    report = check_templates([Source(name="it", body={"Resources": resources})])
    assert ("UC6426" in {each.code for each in report.findings}) is found
