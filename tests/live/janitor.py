"""Remove everything that a live run has tagged: by hand, after each test, and as a Lambda function in the account.

The function runs this file as it is, so it imports nothing but boto3 and the standard library. What costs most goes first. Each
pass tries everything that is left, whatever failed before, since resources wait for each other.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

RUN_TAG = "ultracluster:live"
QUESTION_TAG = "ultracluster:live-question"
OWN_STACK = "janitor"

_PASS_SECONDS = 20
_FEWEST_PASSES = 5
_OF_A_LAMBDA_SECONDS = 14 * 60


def handler(event, context):  # noqa: ANN001, ANN201, ARG001 - what AWS Lambda calls
    """Remove what the run of this function left; a failure makes AWS Lambda try again."""
    config = Config(retries={"mode": "standard", "total_max_attempts": 3})
    left = remove(
        lambda service, region: boto3.client(service, region_name=region, config=config),
        run=os.environ["RUN"],
        regions=os.environ["REGIONS"].split(),
        until=time.monotonic() + _OF_A_LAMBDA_SECONDS,
    )
    if left:
        raise RuntimeError(f"left: {', '.join(left)}")
    return "nothing is left"


def remove(
    client: Callable[[str, str], object],
    *,
    run: str,
    regions: Iterable[str],
    question: str = "",
    until: float = 0.0,
    pause: Callable[[float], None] = time.sleep,
) -> list[str]:
    """Remove what is tagged with a run, or with one question of it; return what is left.

    Args:
        client: Makes a client of a service and Region.
        run: ID of the run.
        regions: Regions in which the run was.
        question: ID of the question. Default: all of the run.
        until: Time of `time.monotonic` at which to stop waiting. Default: five passes at most.
        pause: Called with seconds between passes.
    """
    passes = 0
    while True:
        left = []
        for region in regions:
            for name, delete in _found(lambda service, r=region: client(service, r), run, question):
                left.append(f"{name} in {region}")
                try:
                    delete()
                except ClientError as error:
                    left[-1] += (
                        f" ({error.response['Error']['Code']}: {error.response['Error']['Message'][:200]})"
                    )
        passes += 1
        if not left or (passes >= _FEWEST_PASSES and time.monotonic() >= until):
            return left
        if passes > 1:
            pause(_PASS_SECONDS)


def _found(client, run, question):  # noqa: ANN001, ANN202
    for find in (_batch, _instances, _file_systems, _stacks, _templates, _buckets, _logs, _roles):
        yield from find(client, run, question)


def _mine(tags, run, question):  # noqa: ANN001, ANN202
    if not isinstance(tags, dict):
        tags = {each["Key"]: each["Value"] for each in tags or []}
    return tags.get(RUN_TAG) == run and (not question or tags.get(QUESTION_TAG) == question)


def _filters(run, question):  # noqa: ANN001, ANN202
    found = [{"Name": f"tag:{RUN_TAG}", "Values": [run]}]
    return found + ([{"Name": f"tag:{QUESTION_TAG}", "Values": [question]}] if question else [])


def _batch(client, run, question) -> Iterator:  # noqa: ANN001
    batch = client("batch")
    queues = [
        each for each in batch.describe_job_queues()["jobQueues"] if _mine(each.get("tags"), run, question)
    ]
    for queue in queues:
        arn = queue["jobQueueArn"]
        if queue["state"] == "ENABLED":
            yield (
                f"queue {queue['jobQueueName']}",
                lambda a=arn: batch.update_job_queue(jobQueue=a, state="DISABLED"),
            )
        elif queue["status"] != "DELETING" and not _of_a_stack(queue):
            yield f"queue {queue['jobQueueName']}", lambda a=arn: batch.delete_job_queue(jobQueue=a)
    for environment in batch.describe_compute_environments()["computeEnvironments"]:
        if not _mine(environment.get("tags"), run, question):
            continue
        name, arn = (
            f"environment {environment['computeEnvironmentName']}",
            environment["computeEnvironmentArn"],
        )
        if environment["state"] == "ENABLED":
            yield name, lambda a=arn: batch.update_compute_environment(computeEnvironment=a, state="DISABLED")
        elif environment["status"] != "DELETING" and not _of_a_stack(environment):
            yield name, lambda a=arn: batch.delete_compute_environment(computeEnvironment=a)


def _of_a_stack(described):  # noqa: ANN001, ANN202
    return "aws:cloudformation:stack-name" in described.get(
        "tags", {}
    ) or "ultracluster:cluster" in described.get("tags", {})


def _instances(client, run, question) -> Iterator:  # noqa: ANN001
    ec2 = client("ec2")
    states = {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]}
    for page in ec2.get_paginator("describe_instances").paginate(Filters=[*_filters(run, question), states]):
        for group in page["Reservations"]:
            for each in group["Instances"]:
                name = each["InstanceId"]
                yield f"instance {name}", lambda n=name: ec2.terminate_instances(InstanceIds=[n])


def _file_systems(client, run, question) -> Iterator:  # noqa: ANN001
    fsx = client("fsx")
    for each in fsx.describe_file_systems()["FileSystems"]:
        if _mine(each.get("Tags"), run, question) and each["Lifecycle"] != "DELETING":
            name = each["FileSystemId"]
            yield f"file system {name}", lambda n=name: fsx.delete_file_system(FileSystemId=n)


def _stacks(client, run, question) -> Iterator:  # noqa: ANN001
    stacks = client("cloudformation")
    for page in stacks.get_paginator("describe_stacks").paginate():
        for each in page["Stacks"]:
            name, status = each["StackName"], each["StackStatus"]
            if (
                _mine(each.get("Tags"), run, question)
                and status != "DELETE_COMPLETE"
                and not name.endswith(OWN_STACK)
            ):
                progress = status == "DELETE_IN_PROGRESS"
                yield (
                    f"stack {name}",
                    (lambda: None) if progress else lambda n=name: stacks.delete_stack(StackName=n),
                )


def _templates(client, run, question) -> Iterator:  # noqa: ANN001
    ec2 = client("ec2")
    for each in ec2.describe_launch_templates(Filters=_filters(run, question))["LaunchTemplates"]:
        name = each["LaunchTemplateId"]
        if _mine(each.get("Tags"), run, question):
            yield f"launch template {name}", lambda n=name: ec2.delete_launch_template(LaunchTemplateId=n)
    for each in ec2.describe_network_interfaces(Filters=_filters(run, question))["NetworkInterfaces"]:
        name = each["NetworkInterfaceId"]
        if each.get("Status") == "available" and _mine(each.get("TagSet"), run, question):
            yield (
                f"network interface {name}",
                lambda n=name: ec2.delete_network_interface(NetworkInterfaceId=n),
            )
    for each in ec2.describe_security_groups(Filters=_filters(run, question))["SecurityGroups"]:
        name = each["GroupId"]
        if _mine(each.get("Tags"), run, question):
            yield f"security group {name}", lambda n=name: ec2.delete_security_group(GroupId=n)


def _buckets(client, run, question) -> Iterator:  # noqa: ANN001
    s3 = client("s3")
    for each in s3.list_buckets()["Buckets"]:
        name = each["Name"]
        if not name.startswith(f"live-{run}"):
            continue
        try:
            tags = s3.get_bucket_tagging(Bucket=name)["TagSet"]
        except ClientError:
            continue
        if _mine(tags, run, question):
            yield f"bucket {name}", lambda n=name: _empty(s3, n)


def _empty(s3, name) -> None:  # noqa: ANN001
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=name):
        for each in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
            s3.delete_object(Bucket=name, Key=each["Key"], VersionId=each["VersionId"])
    s3.delete_bucket(Bucket=name)


def _logs(client, run, question) -> Iterator:  # noqa: ANN001
    logs = client("logs")
    for prefix in (f"live-{run}", f"/aws/lambda/live-{run}"):
        for each in logs.describe_log_groups(logGroupNamePrefix=prefix)["logGroups"]:
            name = each["logGroupName"]
            if not question or question in name:
                yield f"log group {name}", lambda n=name: logs.delete_log_group(logGroupName=n)


def _roles(client, run, question) -> Iterator:  # noqa: ANN001
    iam = client("iam")
    path = f"/live-{run}/"
    for each in iam.list_roles(PathPrefix=path)["Roles"]:
        name = each["RoleName"]
        if not question or name.endswith(f"-{question}"):
            yield f"role {name}", lambda n=name: _remove_role(iam, n)


def _remove_role(iam, name) -> None:  # noqa: ANN001
    for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]:
        iam.delete_role_policy(RoleName=name, PolicyName=policy)
    iam.delete_role(RoleName=name)
