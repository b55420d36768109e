"""Checks of a rehearsal: AWS's reports on deployed stacks, environments, definitions, templates and functions."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS, quota_request_command
from ultracluster_catalog.names.submission_tags import DEFAULT_SHARE
from ultracluster_runtime.jobs.dependencies import queue_of
from ultracluster_runtime.jobs.submission import submission
from ultracluster_runtime.preflight.check import AnyCheck, Outcome, check, failed, passed, skipped, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.rehearsal.reader import PROBE_TYPE
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.record import RuleRecord

Description = Mapping[str, Any]

_ENVIRONMENT: Final = "AWS::Batch::ComputeEnvironment"
_QUEUE: Final = "AWS::Batch::JobQueue"
_DEFINITION: Final = "AWS::Batch::JobDefinition"
_FUNCTION: Final = "AWS::Lambda::Function"
_GROUP: Final = "AWS::AutoScaling::AutoScalingGroup"
_LIST: Final = "cloudformation:ListStackResources"
_ENVIRONMENTS: Final = "batch:DescribeComputeEnvironments"
_GROUPS: Final = "autoscaling:DescribeAutoScalingGroups"
_QUEUES: Final = "batch:DescribeJobQueues"
_DEFINITIONS: Final = "batch:DescribeJobDefinitions"
_CREATED: Final = "CREATE_COMPLETE"
_NOT_CREATED: Final = "its stack did not create one"

# These run every minute and read the state of AWS; the other functions act on their event.
_SCHEDULED: Final = (
    "ultracluster_runtime.lifecycle.handler.handler",
    "ultracluster_runtime.watch.handler.handler",
)

_LONGEST_REPORT: Final = 200

# CloudFormation cancels other creations when a resource fails.
_CONSEQUENCE: Final = re.compile(r"Resource creation cancelled|The following resource\(s\) failed")

_CONCURRENCY: Final = SERVICE_QUOTAS["lambda-concurrency"]
_MORE_CONCURRENCY: Final = quota_request_command(
    service=_CONCURRENCY.service, code=_CONCURRENCY.code, value=_CONCURRENCY.default, region="REGION"
)
# AWS's messages, from amazon-genomics-cli#209, IAM's reference of error messages, ten threads on Lambda's quota of new accounts
# (2021 to 2025), metaflow-tools#9 and aws-cdk#21577.
_REMEDIES: Final = (
    (
        r"Instance type can only be one of",
        "AWS Batch does not know the type in this Region: use `launched_by: auto-scaling` or another Region, or ask AWS Support",
    ),
    (
        r"not authorized to perform: iam:PassRole on resource: (?P<role>\S+)",
        "Allow iam:PassRole on {role} for the role that CloudFormation uses, and bootstrap again (`ultracluster docs security`)",
    ),
    (
        r"not authorized to perform: (?P<action>[\w-]+:\w+)",
        "Allow {action} for the principal that the message names, or remove what denies it (a boundary or an SCP)",
    ),
    (r"below its minimum value of \[", f"Request more concurrent executions: `{_MORE_CONCURRENCY}`"),
    (
        r"(?i)limit (of \d+ )?exceeded|\bLimitExceeded|quota",
        "Request an increase of the quota that the message names in Service Quotas",
    ),
    (
        r"exclusively allowed",
        "Report this: the launch template and the environment both have security groups",
    ),
    (r"Invalid IamInstanceProfile", "Rehearse again: IAM had not yet published the new instance profile"),
)


_check: Final = partial(check, subjects=lambda account: account.clusters, after=())


def _remedy(words: str) -> str:
    """Return what to do about a message of AWS."""
    for pattern, remedy in _REMEDIES:
        if match := re.search(pattern, words):
            return remedy.format(**match.groupdict())
    return "Change what the message names in the rollout or in the account, and rehearse again"


def _words(error: ClientError) -> str:
    return f"{error.response['Error'].get('Code')}: {error.response['Error'].get('Message')}"


def _refusals(words: Sequence[str]) -> Outcome:
    """Return a failure with AWS's messages and a remedy for each."""
    return failed("; ".join(words), ". ".join(dict.fromkeys(map(_remedy, words))))


# Instance types


def _batch_types(reader: AwsReader, cluster: Cluster) -> str:
    """Return the response of AWS Batch to an unknown instance type: a list of the types that it knows."""
    try:
        reader.call(
            "batch:CreateComputeEnvironment",
            cluster.region,
            computeEnvironmentName="ultracluster-rehearsal-probe",
            type="MANAGED",
            # AWS Batch checks the type before subnet and role (pcluster/utils.py in aws/aws-parallelcluster 2.11).
            computeResources={
                "type": "EC2",
                "minvCpus": 0,
                "maxvCpus": 1,
                "instanceTypes": [PROBE_TYPE],
                "subnets": ["subnet-00000000000000000"],
                "instanceRole": "ecsInstanceRole",
            },
        )
    except ClientError as error:
        return _words(error)
    return f"AWS Batch accepted {PROBE_TYPE}; delete the environment ultracluster-rehearsal-probe"


@_check("UC9710", _batch_types)
def _check_types(cluster: Cluster, answer: str) -> Outcome:
    match = re.search(r"be one of\s*\[([^\]]+)\]", answer)
    if match is None:
        return failed(f"AWS Batch listed no types: {answer[:300]}", _remedy(answer))
    known = {name.strip() for name in match[1].split(",")}
    by_batch = any(capacity.launched_by == "batch" for _, capacity in cluster.sources())
    wanted = [cluster.instance_type] if by_batch else []
    wanted += (instance_type.name for instance_type in cluster.compile_types)
    if not wanted:
        return skipped("an Auto Scaling group starts the nodes, so AWS Batch needs to know no type")
    missing = [name for name in dict.fromkeys(wanted) if not known & {name, name.partition(".")[0]}]
    if not missing:
        return passed(
            f"AWS Batch lists {', '.join(dict.fromkeys(wanted))} among {len(known)} types and families"
        )
    return failed(
        f"{', '.join(missing)} is not among the {len(known)} types and families that AWS Batch lists in {cluster.region}: "
        f"{answer[: match.start(1)]}…]",
        _remedy(answer),
    )


# Stacks


def _stacks(reader: AwsReader, cluster: Cluster) -> dict[str, Sequence[str]]:
    """Return the reasons of failed resources, or of a missing stack, by stack."""
    return {name: _failures(reader, cluster.region, name) for name in cluster.stacks}


def _failures(reader: AwsReader, region: str, name: str) -> Sequence[str]:
    try:
        status = reader.call("cloudformation:DescribeStacks", region, StackName=name)["Stacks"][0][
            "StackStatus"
        ]
    except ClientError as error:
        return [f"{name} was not deployed: {_words(error)}"]
    if status == _CREATED:
        return []
    events = reader.list_all("cloudformation:DescribeStackEvents", region, "StackEvents", StackName=name)
    reasons = [
        f"{event['ResourceType']} {event['LogicalResourceId']}: {event.get('ResourceStatusReason', 'no reason')}"
        for event in reversed(events)
        if event["ResourceStatus"] == "CREATE_FAILED"
        and event["ResourceType"] != "AWS::CloudFormation::Stack"
    ]
    causes = [reason for reason in reasons if not _CONSEQUENCE.search(reason)]
    return causes or reasons or [f"{name} is {status}"]


@_check("UC9711", _stacks)
def _check_stacks(_: Cluster, failures: Mapping[str, Sequence[str]]) -> Outcome:
    reasons = [reason for reasons in failures.values() for reason in reasons]
    if not reasons:
        return passed(f"{', '.join(failures)} are {_CREATED}")
    # A stack that was not started is the consequence of the one that failed.
    return _refusals([reason for reason in reasons if " was not deployed: " not in reason] or reasons)


def _resources(reader: AwsReader, cluster: Cluster, kind: str) -> list[str]:
    """Return the physical IDs of a resource type that the stack of the nodes created."""
    try:
        resources = reader.list_all(
            "cloudformation:ListStackResources",
            cluster.region,
            "StackResourceSummaries",
            StackName=cluster.stacks[2],
        )
    except ClientError:
        return []
    return [
        resource["PhysicalResourceId"]
        for resource in resources
        if resource["ResourceType"] == kind and resource.get("PhysicalResourceId")
    ]


# AWS Batch


def _described(kind: str, call: str, key: str, *, names: str = "") -> Any:
    def gather(reader: AwsReader, cluster: Cluster) -> Sequence[Description]:
        ids = _resources(reader, cluster, kind)
        return reader.call(call, cluster.region, **{names or key: ids})[key] if ids else []

    return gather


_environments: Final = _described(_ENVIRONMENT, _ENVIRONMENTS, "computeEnvironments")
_groups: Final = _described(_GROUP, _GROUPS, "AutoScalingGroups", names="AutoScalingGroupNames")
_queues: Final = _described(_QUEUE, _QUEUES, "jobQueues")
_definitions: Final = _described(_DEFINITION, _DEFINITIONS, "jobDefinitions")


def _check_status(code: str, gather: Any, *, name: str, good: str) -> AnyCheck:
    """Create a check that expects a status of each resource, and quotes the reason of any other."""

    def evaluate(_: Cluster, found: Sequence[Description]) -> Outcome:
        if not found:
            return skipped(_NOT_CREATED)
        wrong = [
            f"{resource[name]} is {resource['status']}: {resource.get('statusReason') or 'no reason'}"
            for resource in found
            if resource["status"] != good
        ]
        names = ", ".join(f"{resource[name]}: {resource.get('statusReason', good)}" for resource in found)
        return _refusals(wrong) if wrong else passed(f"{good}: {names}")

    return _check(code, gather)(evaluate)


_check_environments = _check_status("UC9712", _environments, name="computeEnvironmentName", good="VALID")
_check_queues = _check_status("UC9713", _queues, name="jobQueueName", good="VALID")
_check_definitions = _check_status("UC9714", _definitions, name="jobDefinitionName", good="ACTIVE")


# Launch templates


def _dry_runs(reader: AwsReader, cluster: Cluster) -> Mapping[str, str]:
    """Return EC2's answer to a dry run of each launch template, by the environment or Auto Scaling group that uses it."""
    answers = {}
    for environment in _environments(reader, cluster):
        # An unmanaged environment has none: its nodes are those of an Auto Scaling group.
        if resources := environment.get("computeResources"):
            answers[environment["computeEnvironmentName"]] = _dry_run(
                reader,
                cluster.region,
                resources["launchTemplate"]["launchTemplateId"],
                resources["launchTemplate"]["version"],
                subnet=resources["subnets"][0],
                # AWS Batch adds these to the template.
                InstanceType=resources["instanceTypes"][0],
                ImageId=resources["ec2Configuration"][0]["imageIdOverride"],
                IamInstanceProfile={"Arn": resources["instanceRole"]},
            )
    for group in _groups(reader, cluster):
        template = group["LaunchTemplate"]
        answers[group["AutoScalingGroupName"]] = _dry_run(
            reader,
            cluster.region,
            template["LaunchTemplateId"],
            template["Version"],
            subnet=group["VPCZoneIdentifier"].partition(",")[0],
        )
    return answers


def _dry_run(
    reader: AwsReader, region: str, template: str, version: str, *, subnet: str, **added: Any
) -> str:
    try:
        data = reader.call(
            "ec2:DescribeLaunchTemplateVersions", region, LaunchTemplateId=template, Versions=[version]
        )["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        reader.call(
            "ec2:RunInstances",
            region,
            DryRun=True,
            MinCount=1,
            MaxCount=1,
            LaunchTemplate={"LaunchTemplateId": template, "Version": version},
            **added,
            **_in_subnet(data, subnet),  # a subnet beside interfaces is rejected
        )
    except ClientError as error:
        return _words(error)
    return "no answer to the dry run"


def _in_subnet(data: Description, subnet: str) -> dict[str, Any]:
    interfaces = data.get("NetworkInterfaces")
    if not interfaces:
        return {"SubnetId": subnet}
    return {"NetworkInterfaces": [{**interface, "SubnetId": subnet} for interface in interfaces]}


_NO_RESERVATION: Final = "InvalidCapacityReservationId.NotFound: "


@_check("UC9715", _dry_runs)
def _check_dry_runs(_: Cluster, answers: Mapping[str, str]) -> Outcome:
    if not answers:
        return skipped(_NOT_CREATED)
    missing = [name for name, answer in answers.items() if answer.startswith(_NO_RESERVATION)]
    wrong = [
        f"{name}: {answer}"
        for name, answer in answers.items()
        if name not in missing and not answer.startswith("DryRunOperation: ")
    ]
    if wrong:
        return _refusals(wrong)
    said = "; ".join(dict.fromkeys(answers.values()))
    if missing:
        # AWS does not document what EC2 checks before it looks for the reservation, which is a placeholder here.
        return warned(
            f"could not be shown for {', '.join(missing)}, because EC2 ends at the reservation: {said}",
            "Rehearse again with the reservation, as soon as it is bought",
        )
    return passed(said)


# Functions


def _invocations(reader: AwsReader, cluster: Cluster) -> Mapping[str, tuple[str, str]]:
    """Invoke the scheduled functions once, and return the error, empty without one, and the last line of the log of each."""
    answers: dict[str, tuple[str, str]] = {}
    for function in _resources(reader, cluster, _FUNCTION):
        try:
            settings = reader.call("lambda:GetFunctionConfiguration", cluster.region, FunctionName=function)
            if settings["Handler"] not in _SCHEDULED:
                continue
            answer = reader.call("lambda:Invoke", cluster.region, FunctionName=function, LogType="Tail")
        except ClientError as error:
            answers[function] = (_words(error), "")
            continue
        log = base64.b64decode(answer.get("LogResult", "")).decode(errors="replace")
        # The other lines are those of Lambda, or metrics.
        lines = [
            line
            for line in log.splitlines()
            if not re.match(r'START|END|REPORT|INIT_START|{"_aws"|\s*$', line)
        ]
        last = lines[-1].strip() if lines else "no message"
        answers[function] = (
            f"{answer['FunctionError']}: {last}" if answer.get("FunctionError") else "",
            last,
        )
    return answers


@_check("UC9716", _invocations)
def _check_invocations(_: Cluster, answers: Mapping[str, tuple[str, str]]) -> Outcome:
    if not answers:
        return skipped("the cluster has no scheduled function")
    wrong = [f"{name}: {error}" for name, (error, _) in answers.items() if error]
    reports = "; ".join(f"{name}: {report[:_LONGEST_REPORT]}" for name, (_, report) in answers.items())
    return _refusals(wrong) if wrong else passed(f"ran: {reports}")


# Submissions


def _submissions(reader: AwsReader, cluster: Cluster) -> Mapping[str, str]:
    """Submit every job as `jobs submit` does, and the first of a queue with shares with each share, and cancel them.

    The environments are disabled before that: then AWS Batch does not scale out. Return AWS's refusal, empty without one, by
    job and share.
    """
    queues = {queue["jobQueueArn"]: queue for queue in _queues(reader, cluster)}
    if not queues:
        return {}
    for environment in _environments(reader, cluster):
        name = environment["computeEnvironmentName"]
        try:
            reader.call(
                "batch:UpdateComputeEnvironment", cluster.region, computeEnvironment=name, state="DISABLED"
            )
        except ClientError as error:
            return {f"{name} could not be disabled, and no job was submitted": _words(error)}
    main = next((arn for arn, queue in queues.items() if QUEUE_NAME_TAG not in queue.get("tags", {})))
    answers: dict[str, str] = {}
    for definition in _definitions(reader, cluster):
        queue = queues[queue_of(definition) or main]
        shares: list[str | None] = [None]
        shares += [share for share in _shares(reader, cluster.region, queue) if queue["jobQueueArn"] == main]
        for share in shares:
            subject = (
                f"{definition['jobDefinitionName']} {f'with share {share}' if share else 'without a share'}"
            )
            answers[subject] = _submit(reader, cluster.region, definition, queue=queue, share=share)
    return answers


def _shares(reader: AwsReader, region: str, queue: Description) -> Iterator[str]:
    """Yield the default share of a fair-share queue and the first declared one."""
    if not queue.get("schedulingPolicyArn"):
        return
    answer = reader.call("batch:DescribeSchedulingPolicies", region, arns=[queue["schedulingPolicyArn"]])[
        "schedulingPolicies"
    ]
    declared = [
        share["shareIdentifier"].rstrip("*") for share in answer[0]["fairsharePolicy"]["shareDistribution"]
    ]
    yield from (share for share in declared[:1] if share and share != DEFAULT_SHARE)


def _submit(
    reader: AwsReader, region: str, definition: Description, *, queue: Description, share: str | None
) -> str:
    arguments = submission(
        name=f"rehearsal-{definition['jobDefinitionName'][:60]}-{share or 'none'}",
        queue=queue["jobQueueArn"],
        definition=definition,
        fair_share=bool(queue.get("schedulingPolicyArn")),
        most_nodes=None,
        share=share,
    )
    try:
        job = reader.call("batch:SubmitJob", region, **arguments)
        reader.call("batch:TerminateJob", region, jobId=job["jobId"], reason="rehearsal")
    except ClientError as error:
        return _words(error)
    return ""


@_check("UC9717", _submissions)
def _check_submissions(_: Cluster, answers: Mapping[str, str]) -> Outcome:
    if not answers:
        return skipped("there is no queue or no job to submit")
    wrong = [f"{name}: {answer}" for name, answer in answers.items() if answer]
    return _refusals(wrong) if wrong else passed(f"accepted and cancelled: {', '.join(answers)}")


PROBE_CHECKS: Final[tuple[AnyCheck, ...]] = (_check_types,)  # they need nothing deployed
REHEARSAL_CHECKS: Final[tuple[AnyCheck, ...]] = (
    _check_stacks,
    _check_environments,
    _check_queues,
    _check_definitions,
    _check_dry_runs,
    _check_invocations,
    _check_submissions,
)  # of a deployed rehearsal

RECORDS: Final = (
    RuleRecord(
        "UC9710",
        "AWS Batch knows the instance types of the cluster.",
        remedy="Use `launched_by: auto-scaling` or another Region, or ask AWS Support.",
        source="aws/amazon-genomics-cli#209 and Netflix/metaflow#70: the answer to an unknown type; pcluster/utils.py of aws-parallelcluster 2.11: type is checked before subnet and role.",
    ),
    RuleRecord(
        "UC9711",
        "The stacks of the rehearsal deploy.",
        remedy="Correct what AWS names, and rehearse again.",
        source="AWS CloudFormation user guide, stack events, 2026-11.",
    ),
    RuleRecord(
        "UC9712",
        "Every compute environment is VALID.",
        remedy="Correct the cause in `statusReason`; the AWS Batch user guide lists causes of INVALID environments.",
        source="AWS Batch user guide, INVALID compute environment, 2026-11.",
    ),
    RuleRecord(
        "UC9713",
        "Every job queue is VALID.",
        remedy="Correct the cause in `statusReason`.",
        source="AWS Batch API reference, JobQueueDetail, 2026-11.",
    ),
    RuleRecord(
        "UC9714",
        "Every job definition is registered.",
        remedy="Rehearse again: CloudFormation registers the definition again.",
        source="AWS Batch API reference, JobDefinition, 2026-11.",
    ),
    RuleRecord(
        "UC9715",
        "EC2 accepts a dry run of every launch template.",
        remedy="Correct what EC2 names, or grant the credentials ec2:RunInstances and iam:PassRole for the dry run.",
        source="Amazon EC2 API reference, RunInstances, DryRun, 2026-11.",
    ),
    RuleRecord(
        "UC9716",
        "The scheduled functions of the cluster run.",
        remedy="Correct what its log names.",
        source="AWS Lambda API reference, Invoke, FunctionError, 2026-11.",
    ),
    RuleRecord(
        "UC9717",
        "AWS Batch accepts every job, with and without a share.",
        remedy="Correct what AWS names, and rehearse again.",
        source="nextflow-io/nextflow#3505: the refusal of a job without a priority.",
    ),
)
