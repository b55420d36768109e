"""Policies of topics and keys, which must allow the AWS services that publish or encrypt."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.policies import covers, may_allow
from ultracluster_checks.problem import Problem
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Unknown

_TOPIC: Final = "AWS::SNS::Topic"
_KEY: Final = "AWS::KMS::Key"
_ALARMS: Final = "cloudwatch.amazonaws.com"
_BUDGETS: Final = "budgets.amazonaws.com"
_EVENTS: Final = "events.amazonaws.com"
_KEY_OF_SNS: Final = "alias/aws/sns"
# https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html (2026-11); CloudWatch Logs asks for these and more:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html (2026-11)
_ENCRYPTING: Final = ("kms:GenerateDataKey", "kms:Decrypt")


def topics_let_services_publish(templates: Templates) -> Iterator[Problem]:
    """Find topics whose policy denies a service that notifies them."""
    for (topic, service), sender in _publishers(templates).items():
        documents = _topic_policies(topic)
        of_account = (
            service == _ALARMS
        )  # an alarm may publish as its account, which the policy that SNS creates allows
        if of_account and not documents:
            continue
        if not any(_lets(each, service, ("sns:Publish",), accounts=of_account) for each in documents):
            yield Problem.of(
                documents[0] if documents else topic.properties,
                "UC6426",
                f"{sender.logical_id} notifies {topic.logical_id} through {service}, which its policy does not let publish: "
                "every notification is lost, and no deployment fails",
                f"a topic policy that allows sns:Publish to {service}",
            )


def publishers_may_use_the_key(templates: Templates) -> Iterator[Problem]:
    """Find encrypted topics whose key a service that notifies them cannot use."""
    for (topic, service), sender in _publishers(templates).items():
        at = topic["KmsMasterKeyId"]
        key = _key(at)
        if at.pattern.endswith(_KEY_OF_SNS):
            got = f"{_KEY_OF_SNS}, whose policy cannot be changed"
        elif key is not None and not _lets(key["KeyPolicy"], service, _ENCRYPTING):
            got = f"{key.logical_id}, whose policy does not name it"
        else:
            continue
        yield Problem.of(
            at,
            "UC6427",
            f"{sender.logical_id} notifies {topic.logical_id} through {service}, which cannot use the key {got}: "
            "every notification is lost, and no deployment fails",
            f"a customer managed key whose policy allows {' and '.join(_ENCRYPTING)} to {service}",
        )


def keys_let_logs_encrypt(templates: Templates) -> Iterator[Problem]:
    """Find log groups with a key that CloudWatch Logs cannot use."""
    for group in templates.of_type("AWS::Logs::LogGroup"):
        key = _key(group["KmsKeyId"])
        service = f"logs.{group.template.region or 'REGION'}.amazonaws.com"
        if key is not None and not _lets(key["KeyPolicy"], service, _ENCRYPTING):
            yield Problem.of(
                group["KmsKeyId"],
                "UC6428",
                f"the policy of {key.logical_id} does not let CloudWatch Logs encrypt, so that the log group is not created",
                f"a key policy that allows kms:Encrypt*, {', '.join(f'{each}*' for each in _ENCRYPTING)} and kms:Describe* to {service}",
            )


def _publishers(templates: Templates) -> dict[tuple[Resource, str], Resource]:
    """Return the services that notify a topic, each with the first resource for which it does."""
    found: dict[tuple[Resource, str], Resource] = {}
    for at, service in _notified(templates):
        topic = at.target
        if topic is not None and topic.type == _TOPIC:
            found.setdefault((topic, service), at.resource)
    return found


def _notified(templates: Templates) -> Iterator[tuple[Property, str]]:
    for alarm in templates.of_type("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"):
        for name in ("AlarmActions", "OKActions", "InsufficientDataActions"):
            for action in alarm[name].items:
                yield action, _ALARMS
    for budget in templates.of_type("AWS::Budgets::Budget"):
        for notification in budget["NotificationsWithSubscribers"].items:
            for subscriber in notification["Subscribers"].items:
                yield subscriber["Address"], _BUDGETS
    for rule in templates.of_type("AWS::Events::Rule"):
        for target in rule["Targets"].items:
            if target["RoleArn"].missing:
                yield target["Arn"], _EVENTS


def _topic_policies(topic: Resource) -> list[Property]:
    templates = topic.template.templates
    lists = [
        policy["PolicyDocument"]
        for policy in templates.of_type("AWS::SNS::TopicPolicy")
        if any(each.target is topic or isinstance(each.value, Unknown) for each in policy["Topics"].items)
    ]
    inline = [
        policy["PolicyDocument"]
        for policy in templates.of_type("AWS::SNS::TopicInlinePolicy")
        if policy["TopicArn"].target is topic
    ]
    return lists + inline


def _key(at: Property) -> Resource | None:
    """Return the key of these templates that a property names, directly or by an alias."""
    found = at.target
    if found is not None and found.type == "AWS::KMS::Alias":
        found = found["TargetKeyId"].target
    return found if found is not None and found.type == _KEY else None


def _lets(document: Property, service: str, actions: tuple[str, ...], *, accounts: bool = False) -> bool:
    """Return whether a policy may allow a service all of these actions; unknown parts are assumed to allow them."""
    if any(isinstance(each.value, Unknown) for each in document["Statement"].one_or_more):
        return True
    statements = [
        each for each in may_allow(document) if _is_for(each["Principal"], service, accounts=accounts)
    ]
    return all(
        any(
            isinstance(action.value, Unknown) or covers(action, name)
            for statement in statements
            for action in statement["Action"].one_or_more
        )
        for name in actions
    )


def _is_for(principal: Property, service: str, *, accounts: bool) -> bool:
    named = principal["AWS"].one_or_more
    if accounts and named:
        return True
    if any(each.text == "*" or isinstance(each.value, Unknown) for each in (principal, *named)):
        return True
    first_label = service.partition(".")[0]
    return any(
        each.pattern.partition(".")[0] == first_label or each.pattern.startswith("${")
        for each in principal["Service"].one_or_more
    )
