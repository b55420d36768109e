"""Policies of resources: named principals, this account only, and the AWS services that publish, encrypt or invoke."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_checks.codes import CALLERS, CALLING, EVERY_ACTION, PUBLIC, REFERENCES
from ultracluster_checks.jobs import job_containers
from ultracluster_checks.model.permissions import (
    KEY,
    ROLE,
    allowing,
    bucket_key,
    conditions_of,
    covers,
    is_apart,
    lets_invoke,
    may_allow,
)
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_rules.findings import quote

# Endpoint policies grant nothing by themselves.
_POLICIES: Final = {
    "AWS::Backup::BackupVault": "AccessPolicy",
    "AWS::ECR::RegistryPolicy": "PolicyText",
    "AWS::ECR::Repository": "RepositoryPolicyText",
    "AWS::EFS::FileSystem": "FileSystemPolicy",
    "AWS::Events::EventBus": "Policy",
    ROLE: "AssumeRolePolicyDocument",
    KEY: "KeyPolicy",
    "AWS::S3::AccessPoint": "Policy",
    "AWS::S3::BucketPolicy": "PolicyDocument",
    "AWS::SNS::TopicInlinePolicy": "PolicyDocument",
    "AWS::SNS::TopicPolicy": "PolicyDocument",
    "AWS::SQS::QueueInlinePolicy": "PolicyDocument",
    "AWS::SQS::QueuePolicy": "PolicyDocument",
    "AWS::SecretsManager::ResourcePolicy": "ResourcePolicy",
}
# Of everybody, or of an owner without a repository.
_EVERY_REPOSITORY: Final = re.compile(r"\*|repo:\*.*|repo:[^/:*]*\*?|repo:[^/:*]*/\*.*")
_WORKFLOWS: Final = "token.actions.githubusercontent.com"
_PERMISSION: Final = "AWS::Lambda::Permission"
_FUNCTION: Final = "AWS::Lambda::Function"
_RECEIVED: Final = {
    "AWS::S3::Bucket": "s3:PutObject",
    "AWS::SNS::Topic": "sns:Publish",
    "AWS::SQS::Queue": "sqs:SendMessage",
    _FUNCTION: "lambda:InvokeFunction",
}
_HOLDERS: Final = ("Topics", "Queues", "TopicArn", "Queue", "Bucket")
_POLICY_TYPES: Final = ("AWS::S3::BucketPolicy", "AWS::SNS::TopicInlinePolicy", "AWS::SNS::TopicPolicy", "AWS::SQS::QueueInlinePolicy", "AWS::SQS::QueuePolicy")  # fmt: skip
# Services whose resources a condition names by ARN.
_ARNS: Final = ("AWS::Batch", "AWS::S3", "AWS::SNS", "AWS::SQS", "AWS::Events", "AWS::Lambda")
_TRAIL: Final = "AWS::CloudTrail::Trail"
_TRAILS: Final = "cloudtrail.amazonaws.com"
_ALARMS: Final = "cloudwatch.amazonaws.com"
_BUDGETS: Final = "budgets.amazonaws.com"
_EVENTS: Final = "events.amazonaws.com"
_LOST: Final = "everything is lost, and no deployment fails"
_KEYS_OF_AWS: Final = ("alias/aws/sns", "alias/aws/sqs")
# https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html (2026-11); CloudWatch Logs asks for these and more:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html (2026-11)
_ENCRYPTING: Final = ("kms:GenerateDataKey", "kms:Decrypt")
_ACCOUNT: Final = re.compile(r"(?<![0-9])[0-9]{12}(?![0-9])")
_ACCESS_LOGS: Final = "logging.s3.amazonaws.com"
# Condition keys that identify the caller. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html (2026-11)
_OWNS: Final = re.compile(
    r"(?:kms|s3):(?:\*|Delete\w*\*?|Put\w*Policy|Put\*|ScheduleKeyDeletion|DisableKey|CreateGrant\*)"
)
_WHO: Final = re.compile(
    r"aws:(?:principal.*|source(?:account|arn|orgid|orgpaths|vpc|vpce|ip|vpcarn)|vpcsourceip|userid|username|calledvia.*|resourceaccount|federatedprovider)"
    r"|.*:(?:sub|aud|calleraccount|viaservice|externalid|dataaccesspoint.*|sourceaccount|accesspointnetworkorigin)|s3:.*account.*|sns:.*|sqs:.*",
    re.IGNORECASE,
)
_ANYONE: Final = {"*", "0.0.0.0/0", "::/0", "arn:aws:iam::*:*", "repo:*", "o-*"}
# Services that act for a resource of any account. https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html (2026-11)
_CONFUSED: Final = {
    f"{name}.amazonaws.com"
    for name in ("s3", "sns", "apigateway", "config", "events", "budgets", "logging.s3", "cloudtrail")
}


def _granted(templates: Templates) -> Iterator[tuple[Property, Property]]:
    """Return the principals that policies of resources allow something, each with its statement."""
    for resource in templates.of_type(*_POLICIES):
        for statement in allowing(resource[_POLICIES[resource.type]]):
            whole = statement["Principal"]
            yield statement, whole
            yield from ((statement, at) for at in whole["AWS"].one_or_more)


@rule("UC6421")
def principals_are_named(templates: Templates) -> Iterator[Wrong]:
    """Find policies of roles, buckets, keys and topics with a public principal."""
    named = "the principals by name"
    for statement, at in _granted(templates):
        condition = statement["Condition"]
        if at.text == "*" and condition.missing:
            yield at, "got '*', which is everyone in every account", named
        elif at.text == "*" and not _asks_who(statement, beside="kms:viaservice"):
            yield at, "got '*' under a condition that does not say who", named
        if not statement["NotPrincipal"].missing:
            yield statement["NotPrincipal"], "everyone but those named", named


@rule("UC6421", "AWS::IAM::Role")
def workflows_are_named(role: Resource) -> Iterator[Wrong]:
    """Find roles that workflows of every repository on GitHub can assume."""
    for statement in allowing(role["AssumeRolePolicyDocument"]):
        provider = statement["Principal"]["Federated"]
        url = provider.target["Url"].pattern if provider.target is not None else provider.pattern
        if _WORKFLOWS not in url or statement["Condition"].unknown:
            continue
        keys = [key for key in conditions_of(statement) if str(key.path[-1]).endswith(":sub")]
        subjects = [each for key in keys for each in key.one_or_more]
        if not subjects or any(_EVERY_REPOSITORY.fullmatch(each.pattern) for each in subjects):
            at = keys[0] if keys else statement["Principal"]
            got = "workflows of every repository can assume the role"
            yield at, got, f"{_WORKFLOWS}:sub of one repository"


@rule("UC6454")
def policies_exclude_other_accounts(templates: Templates) -> Iterator[Wrong]:
    """Find policies and permissions for another account."""
    granted = [at for statement, at in _granted(templates) if not _asks_who(statement)]
    invokers = [permission["Principal"] for permission in templates.of_type(_PERMISSION)]
    for at in (*granted, *invokers):
        if _is_of_other_account(at):
            condition = "principals of this account, or a condition that names the organization"
            allowed = "the service or this account" if at in invokers else condition
            yield at, f"got {quote(at.pattern)}, which is another account", allowed


@rule("UC6454")
def other_accounts_do_not_own(templates: Templates) -> Iterator[Wrong]:
    """Find keys and buckets that another account may delete, empty or give away."""
    for policy in templates.of_type("AWS::KMS::Key", "AWS::S3::BucketPolicy"):
        for statement in may_allow(
            policy["KeyPolicy" if policy.type == "AWS::KMS::Key" else "PolicyDocument"]
        ):
            principals = statement["Principal"]["AWS"].one_or_more
            given = [
                at for at in principals if re.search(r":iam::\$\{(?!AWS::AccountId)[^}]+\}:", at.pattern)
            ]
            others = [*given, *filter(_is_of_other_account, principals)]
            for action in statement["Action"].one_or_more if others else ():
                if _OWNS.fullmatch(action.text or ""):
                    yield (
                        action,
                        f"{others[0].pattern} may use {action.text}",
                        "what it reads, such as kms:Decrypt or s3:GetObject",
                    )


def _asks_who(statement: Property, beside: str = "") -> bool:
    """Return whether a condition identifies the caller, other than by a key that does not suffice."""
    if statement["Condition"].unknown:
        return True
    for key in conditions_of(statement):
        wide, name = any(each.text in _ANYONE for each in key.one_or_more), str(key.path[-1])
        if "Not" not in str(key.path[-2]) and _WHO.fullmatch(name) and not wide and name.lower() != beside:
            return True
    return False


def _is_of_other_account(at: Property) -> bool:
    account, known = _ACCOUNT.search(at.pattern), _known_accounts(at.resource.template.templates)
    return account is not None and known is not None and account[0] not in known


@lru_cache(maxsize=1)
def _known_accounts(templates: Templates) -> frozenset[str] | None:
    """Return the accounts that templates name in images and roles; None if they name none."""
    named = [container.at["Image"] for container in job_containers(templates)]
    named += [function["Role"] for function in templates.of_type(_FUNCTION)]
    accounts = frozenset(account for at in named for account in _ACCOUNT.findall(at.pattern))
    bodies = (json.dumps(template.source.body, default=str) for template in templates.all)
    return accounts if accounts or any("AWS::AccountId" in body for body in bodies) else None


@rule(CALLERS, _PERMISSION)
def functions_know_their_callers(resource: Resource) -> Iterator[Wrong]:
    """Find functions that anyone may invoke."""
    principal = resource["Principal"]
    if principal.text == "*" and resource["PrincipalOrgID"].missing:
        yield principal, "got '*', which is everyone in every account", "the service or account"


@rule("UC6457", _PERMISSION)
def services_invoke_for_a_resource(permission: Resource) -> Iterator[Wrong]:
    """Find permissions that let a service invoke a function on behalf of any account."""
    service = permission["Principal"].text or ""
    limits = ("SourceArn", "SourceAccount", "PrincipalOrgID", "EventSourceToken")
    if service in _CONFUSED and all(permission[name].missing for name in limits):
        got = f"{service} may invoke the function for every account"
        yield permission["SourceArn"], got, "SourceArn, and SourceAccount for a bucket"


@rule("UC6457")
def services_act_for_a_resource(templates: Templates) -> Iterator[Wrong]:
    """Find policies that let a service use a resource on behalf of any account."""
    for resource in templates.of_type(*_POLICIES.keys() - {ROLE}):
        for statement in allowing(resource[_POLICIES[resource.type]]):
            service = statement["Principal"]["Service"]
            if service.text in _CONFUSED - {_EVENTS} and statement["Condition"].missing:
                got = f"{service.text} may act here for every account"
                yield service, got, "a condition with aws:SourceArn or aws:SourceAccount"


@rule(EVERY_ACTION)
def others_are_given_actions_by_name(templates: Templates) -> Iterator[Wrong]:
    """Find policies of resources that allow everything to another account."""
    for statement, at in _granted(templates):
        for action in statement["Action"].one_or_more if _is_of_other_account(at) else ():
            if (action.text or "").rpartition(":")[2] == "*":
                yield action, f"got {quote(action.text)} for {quote(at.pattern)}", "actions by name"


@rule(PUBLIC, "AWS::EC2::VPCEndpoint")
def endpoints_do_not_let_data_out(endpoint: Resource) -> Iterator[Wrong]:
    """Find policies of S3 endpoints, where nothing else leads out, that let objects into buckets of every account."""
    vpc, ways = endpoint["VpcId"].target, ("AWS::EC2::NatGateway", "AWS::EC2::VPCGatewayAttachment")
    open_ = vpc is None or any(endpoint.template.templates.of_type(*ways))
    if open_ or not endpoint["ServiceName"].pattern.endswith(".s3"):
        return
    for statement in allowing(endpoint["PolicyDocument"]):
        writing = any(covers(each, "s3:PutObject") for each in statement["Action"].one_or_more)
        for place in statement["Resource"].one_or_more if writing and not _limits(statement) else ():
            if place.text in {"*", "arn:aws:s3:::*", "arn:aws:s3:::*/*"}:
                yield place, "what is in the network can be copied to a bucket of any account", "own buckets"


def _limits(statement: Property) -> bool:
    """Return whether a condition of a statement may name an account, organization or tag."""
    return statement["Condition"].unknown or bool(conditions_of(statement))


@rule()
def receivers_admit_their_senders(templates: Templates) -> Iterator[Wrong]:
    """Find topics, queues and buckets whose policy or key denies a service that sends to them, and functions that one may not invoke."""
    judged = set()
    for at, service, sender in _deliveries(templates):
        receiver = at.target
        if receiver is None or receiver.type not in _RECEIVED or (receiver, service, sender) in judged:
            continue
        judged.add((receiver, service, sender))
        sent = f"{sender.logical_id} sends to {receiver.logical_id} through {service}, which"
        documents, action = _policies_of(receiver), _RECEIVED[receiver.type]
        if not _admits(receiver, service, sender, at):
            got = f"{sent} its policy does not admit: {_LOST}"
            allowed = f"a policy that allows {action} to {service} for {sender.logical_id}"
            code = CALLING if receiver.type == _FUNCTION else "UC6426"
            yield Problem.of(documents[0] if documents else receiver.properties, code, got, allowed)
        # https://github.com/aws/aws-cdk/pull/25350: S3 delivers access logs if the policy of the bucket's key names it.
        place = bucket_key(receiver) if service == _ACCESS_LOGS else receiver["KmsMasterKeyId"]
        key = _key(place)
        closed = key is not None and not _lets(key["KeyPolicy"], service, _ENCRYPTING)
        if place.pattern.endswith(_KEYS_OF_AWS) or closed:
            unnamed, of_aws = "whose policy does not name it", "of AWS, whose policy cannot be changed"
            name = f"{key.logical_id}, {unnamed}" if key else of_aws
            allowed = f"a customer managed key whose policy allows {' and '.join(_ENCRYPTING)} to {service}"
            yield Problem.of(place, "UC6427", f"{sent} cannot use the key {name}: {_LOST}", allowed)


def _admits(receiver: Resource, service: str, sender: Resource, at: Property) -> bool:
    """Return whether a receiver admits a service that acts for a sender, or may do so."""
    if receiver.type == _FUNCTION:
        permissions = receiver.template.templates.of_type(_PERMISSION)
        return any(lets_invoke(each, service, sender, at) for each in permissions)
    # An alarm may publish as its account, which the policy that SNS creates allows.
    as_account = service == _ALARMS
    documents, actions = _policies_of(receiver), (_RECEIVED[receiver.type],)
    if (as_account and not documents) or receiver["AccessControl"].text == "LogDeliveryWrite":
        return True
    return any(
        _lets(each, service, actions, accounts=as_account, on=receiver, source=sender) for each in documents
    )


@rule(REFERENCES, *_POLICY_TYPES)
def policies_are_about_their_resource(policy: Resource) -> Iterator[Wrong]:
    """Find statements about another bucket, topic or queue than that of their policy, which the service refuses."""
    holders = [each for name in _HOLDERS for each in policy[name].one_or_more]
    if not all(holder.target for holder in holders):
        return
    for at in policy["PolicyDocument"].places("Statement.*.Resource"):
        for each in at.one_or_more:
            named = {target for target in each.targets if target.type in _RECEIVED}
            if named and not named & {holder.target for holder in holders}:
                got = f"got {each.pattern}, and the policy is that of {holders[0].pattern}"
                yield each, got, holders[0].pattern


@rule("UC6428", "AWS::Logs::LogGroup", _TRAIL)
def keys_let_logs_encrypt(logs: Resource) -> Iterator[Wrong]:
    """Find log groups and trails with a key that CloudWatch Logs or AWS CloudTrail cannot use."""
    trail, writer = logs.type == _TRAIL, f"logs.{logs.region or 'REGION'}.amazonaws.com"
    at, service = (logs["KMSKeyId"], _TRAILS) if trail else (logs["KmsKeyId"], writer)
    key, actions = _key(at), _ENCRYPTING[:1] if trail else _ENCRYPTING
    if key is not None and not _lets(key["KeyPolicy"], service, actions, source=logs if trail else None):
        got = f"the policy of {key.logical_id} does not let {service} encrypt, so that {logs.logical_id} is not created"
        allowed = f"a key policy that allows kms:Encrypt*, {', '.join(f'{each}*' for each in _ENCRYPTING)} and kms:Describe* to {service}"
        yield at, got, allowed


@rule("UC6428", "AWS::FSx::DataRepositoryAssociation")
def keys_let_file_systems_use_buckets(association: Resource) -> Iterator[Wrong]:
    """Find links of file systems to a bucket whose key the service-linked role of the file system may not use.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html (2026-11)
    """
    at = association["DataRepositoryPath"]
    for key in (_key(bucket_key(bucket)) for bucket in at.targets):
        allowed = may_allow(key["KeyPolicy"]) if key is not None else []
        if key is not None and not any(each.unknown or _is_for_lustre(each) for each in allowed):
            got = f"the policy of {key.logical_id} does not let the role of the file system use it"
            yield at, got, "AWSServiceRoleForFSxS3Access, with kms:ViaService of S3"


def _is_for_lustre(statement: Property) -> bool:
    """Return whether a statement of a key may be for the role with which FSx for Lustre reads and writes buckets."""
    arns = [
        at
        for each in conditions_of(statement)
        if "principalarn" in str(each.path[-1]).lower()
        for at in each.one_or_more
    ]
    principals = [*statement["Principal"]["AWS"].one_or_more, *statement["Principal"].one_or_more, *arns]
    named = any(re.search("(?i)fsx|lustre", at.pattern) for at in principals)
    return named or (not arns and any(at.text == "*" for at in principals))


def _deliveries(templates: Templates) -> Iterator[tuple[Property, str, Resource]]:
    """Return what services send to without a role: the property that names the receiver, the service, and the resource on whose behalf it sends."""
    yield from _notified(templates)
    for each in templates.of_type("AWS::SNS::Subscription"):
        topic = each["TopicArn"].target
        if topic is not None:
            yield each["Endpoint"], "sns.amazonaws.com", topic
            yield each["RedrivePolicy"]["deadLetterTargetArn"], "sns.amazonaws.com", topic
    for bucket in templates.of_type("AWS::S3::Bucket"):
        for kind, name in (("Topic", "Topic"), ("Queue", "Queue"), ("Lambda", "Function")):
            sent = bucket["NotificationConfiguration"][f"{kind}Configurations"].items
            yield from ((part[name], "s3.amazonaws.com", bucket) for part in sent)
        yield bucket["LoggingConfiguration"]["DestinationBucketName"], _ACCESS_LOGS, bucket
    for trail in templates.of_type(_TRAIL):
        yield trail["S3BucketName"], _TRAILS, trail


def _notified(templates: Templates) -> Iterator[tuple[Property, str, Resource]]:
    for alarm in templates.of_type("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"):
        for name in ("AlarmActions", "OKActions", "InsufficientDataActions"):
            yield from ((action, _ALARMS, alarm) for action in alarm[name].items)
    for budget in templates.of_type("AWS::Budgets::Budget"):
        for notification in budget["NotificationsWithSubscribers"].items:
            yield from ((each["Address"], _BUDGETS, budget) for each in notification["Subscribers"].items)
    for source in templates.of_type("AWS::Events::Rule"):
        for each in source["Targets"].items:
            yield each["DeadLetterConfig"]["Arn"], _EVENTS, source
            if each["RoleArn"].missing and getattr(each["Arn"].target, "type", _FUNCTION) != _FUNCTION:
                yield each["Arn"], _EVENTS, source


def _policies_of(receiver: Resource) -> list[Property]:
    """Return the policies of a topic, queue or bucket, and those that may be."""
    return [
        policy["PolicyDocument"]
        for policy in receiver.template.templates.of_type(*_POLICY_TYPES)
        for name in _HOLDERS
        if any(each.target is receiver or each.unknown for each in policy[name].one_or_more)
    ]


def _key(at: Property) -> Resource | None:
    """Return the key of these templates that a property names, directly or by an alias."""
    found = at.target
    if found is not None and found.type == "AWS::KMS::Alias":
        found = found["TargetKeyId"].target
    return found if found is not None and found.type == KEY else None


def _lets(
    document: Property,
    service: str,
    actions: tuple[str, ...],
    *,
    accounts: bool = False,
    on: Resource | None = None,
    source: Resource | None = None,
) -> bool:
    """Return whether a policy may allow a service all of these actions; unknown parts are assumed to allow them."""
    if any(each.unknown for each in document["Statement"].one_or_more):
        return True
    allowed = [
        action
        for each in may_allow(document)
        if _is_for(each["Principal"], service, accounts=accounts)
        and _may_mean(each["Resource"], on)
        and _holds_for(each, source)
        for action in each["Action"].one_or_more
    ]
    return all(any(each.unknown or covers(each, name) for each in allowed) for name in actions)


def _holds_for(statement: Property, source: Resource | None) -> bool:
    """Return whether the conditions of a statement may hold for a service that acts for a resource."""
    keys = {str(key.path[-1]).lower(): key for key in conditions_of(statement)}
    if "aws:principalarn" in keys:
        return False  # services have none
    return "aws:sourcearn" not in keys or _may_mean(keys["aws:sourcearn"], source)


def _may_mean(at: Property, resource: Resource | None) -> bool:
    """Return whether an ARN, or one of several, may be that of a resource: it refers to no other one of its type."""
    return resource is None or at.missing or any(_may_be(each, resource) for each in at.one_or_more)


def _may_be(at: Property, resource: Resource) -> bool:
    same = [target for target in at.targets if target.type == resource.type]
    known = at.target is not None and at.target.type.startswith(_ARNS)
    if same or known:
        return resource in same
    return not is_apart(at, resource)


def _is_for(principal: Property, service: str, *, accounts: bool) -> bool:
    named = principal["AWS"].one_or_more
    if (accounts and named) or any(each.text == "*" or each.unknown for each in (principal, *named)):
        return True
    label, services = service.partition(".")[0], [each.pattern for each in principal["Service"].one_or_more]
    return any(each.startswith("${") or each.partition(".")[0] == label for each in services)
