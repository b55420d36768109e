"""Tier 1: up to 10 USD. One cluster of small on-demand and Spot nodes, and what an account answers to dry runs and roles."""

import base64
import contextlib
import datetime as dt
import json
import re
from typing import Any

from botocore.exceptions import ClientError
from tests.live.cluster import Cluster, deploy, image_id, zone_of
from tests.live.costs import cluster, nodes
from tests.live.janitor import RUN_TAG
from tests.live.question import live as question
from tests.live.session import Live

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_runtime.purchasing.aws_errors import REFUSED_BEFORE_EXECUTION

SMALL = "trn1.2xlarge"
SOLD = "trn2.3xlarge"
_TAGS = [{"Key": "uc:po", "Value": "check"}]
_OF_A_SERVICE_ROLE = [
    "ec2:DescribeInstanceStatus",
    "ec2:DescribeInstances",
    "ecs:CreateCluster",
    "ecs:DeleteCluster",
    "ecs:DeregisterTaskDefinition",
    "ecs:DescribeClusters",
    "ecs:DescribeContainerInstances",
    "ecs:DescribeTasks",
    "ecs:ListContainerInstances",
    "ecs:ListTasks",
    "ecs:RegisterTaskDefinition",
    "ecs:RunTask",
    "ecs:StartTask",
    "ecs:StopTask",
]  # of AWS's policy AWSBatchServiceRole, those that an environment without instances of AWS Batch uses


# The net


@question("L117", tier=1, minutes=15)
def test_the_net_removes_what_a_run_left(live: Live) -> None:
    """Does the cleanup schedule of a live run remove what is left when the machine that started the run is gone?

    Makes a launch template with the tags of the run, and lets the schedule fire at once. Passes when the launch template is gone within ten minutes; until the
    test ends, nothing else removes it.
    """
    ec2 = live.client("ec2")
    made = ec2.create_launch_template(
        LaunchTemplateName=live.name(),
        LaunchTemplateData={"InstanceType": SMALL},
        TagSpecifications=live.tagged("launch-template"),
    )["LaunchTemplate"]["LaunchTemplateId"]
    live.run.net(live.run.where.now() + dt.timedelta(minutes=2))
    filters = [{"Name": f"tag:{RUN_TAG}", "Values": [live.run.id]}]

    def gone() -> bool:
        left = ec2.describe_launch_templates(Filters=filters)["LaunchTemplates"]
        return made not in {each["LaunchTemplateId"] for each in left}

    live.wait("the net removes", gone, minutes=10)


# Dry runs of purchases


def offering(live: Live, **wanted: Any) -> str:
    """Return the ID of the cheapest offering of a day."""
    ec2 = live.client("ec2", live.block_region)
    asked = wanted or {"InstanceType": SOLD, "InstanceCount": 1}
    found = ec2.describe_capacity_block_offerings(CapacityDurationHours=24, **asked)["CapacityBlockOfferings"]
    assert found, f"nothing is offered: {asked} in {live.block_region}"
    return str(min(found, key=lambda each: float(each["UpfrontFee"]))["CapacityBlockOfferingId"])


def dry_run(live: Live, ec2: Any, offered: str, *resource_types: str) -> str:
    """Return the code that EC2 answers to the dry run of a purchase with the tag of an order."""
    tags = [{"ResourceType": each, "Tags": _TAGS} for each in resource_types]
    request: dict[str, Any] = {
        "CapacityBlockOfferingId": offered,
        "InstancePlatform": "Linux/UNIX",
        "DryRun": True,
    }
    try:
        ec2.purchase_capacity_block(**request, **({"TagSpecifications": tags} if tags else {}))
    except ClientError as error:
        said = error.response["Error"]
        live.note(**{f"answer with {' and '.join(resource_types) or 'no'} tags": said})
        return str(said["Code"])
    raise AssertionError("a dry run was answered as if it had been sent")


def assume(live: Live, statement: dict[str, Any], *, suffix: str = "") -> Any:
    """Make a role that has one statement, and return an EC2 client of it."""
    iam, sts = live.client("iam"), live.client("sts")
    account = sts.get_caller_identity()["Account"]
    trust = {
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
        "Action": "sts:AssumeRole",
    }
    role = iam.create_role(
        Path=f"/live-{live.run.id}/",
        RoleName="-".join(filter(None, (f"live-{live.run.id}", suffix, live.question.id))),
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
        Tags=live.tag_list,
    )["Role"]
    document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Resource": "*", **statement}]}
    iam.put_role_policy(RoleName=role["RoleName"], PolicyName="one", PolicyDocument=json.dumps(document))

    def credentials() -> Any:
        with contextlib.suppress(ClientError):
            return sts.assume_role(RoleArn=role["Arn"], RoleSessionName="live")["Credentials"]

    given = live.wait("the role can be assumed", credentials, minutes=2, every=5)
    live.run.where.sleep(15)  # policies reach EC2 later than AWS STS
    return live.run.where.session.client(
        "ec2",
        region_name=live.block_region,
        endpoint_url=live.run.where.endpoint or None,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )


@question("L20", tier=1, minutes=5)
def test_ec2_gives_iam_the_type_of_a_block_or_does_not(live: Live) -> None:
    """Does EC2 pass the type and the count of a block to IAM when it is bought?

    Assumes a role that may call `ec2:PurchaseCapacityBlock` only if `ec2:InstanceType` differs from the type of the offering, and sends a dry run, which buys
    nothing. `UnauthorizedOperation` shows that EC2 passes the type to IAM; `aws sts decode-authorization-message` then lists the condition keys.
    `DryRunOperation` shows that it does not, as the Service Authorization Reference says; then only the quota limits what can be bought. The test passes with
    either code and records which one it got.
    """
    condition = {"StringNotEqualsIfExists": {"ec2:InstanceType": SOLD}}
    ec2 = assume(live, {"Action": "ec2:PurchaseCapacityBlock", "Condition": condition})
    code = dry_run(live, ec2, offering(live), "capacity-reservation")
    assert code in {"DryRunOperation", "UnauthorizedOperation"}, f"neither allowed nor denied: {code}"
    live.note(gives_the_type=code == "UnauthorizedOperation")


@question("L21", tier=1, minutes=5)
def test_a_purchase_without_its_orders_tag_is_refused(live: Live) -> None:
    """Does AWS refuse a purchase without its order's tag?

    Assumes a role that may call `ec2:PurchaseCapacityBlock` and `ec2:CreateTags` only with the request tag `uc:po`. Passes when a dry run with the tag answers
    `DryRunOperation` and one without it `UnauthorizedOperation`.
    """
    tagged = {"Null": {"aws:RequestTag/uc:po": "false"}}
    ec2 = assume(live, {"Action": ["ec2:PurchaseCapacityBlock", "ec2:CreateTags"], "Condition": tagged})
    offered = offering(live)
    assert dry_run(live, ec2, offered, "capacity-reservation") == "DryRunOperation"
    code = dry_run(live, ec2, offered)
    assert code == "UnauthorizedOperation", f"a purchase without a tag is answered by {code}"


@question("L30", tier=1, minutes=2)
def test_the_dry_run_of_a_purchase_with_tags_passes(live: Live) -> None:
    """Does the dry run of a purchase answer `DryRunOperation`, with and without tags?

    Sends the dry run of a purchase with the tag `uc:po` and without it; `ultracluster capacity buy` sends the same dry run before it asks. Passes when both
    answer `DryRunOperation`. By hand: `ultracluster capacity approve` with a cap of 1 USD below the cheapest offering shows no purchase.
    """
    offered = offering(live)
    ec2 = live.client("ec2", live.block_region)
    for resource_types in ((), ("capacity-reservation",)):
        code = dry_run(live, ec2, offered, *resource_types)
        assert code == "DryRunOperation", f"answered by {code}"


@question("L33", tier=1, minutes=5)
def test_refusals_of_purchases_are_known_to_come_before_execution(live: Live) -> None:
    """Which error codes does AWS return when an offering is gone, or the caller may not buy?

    Sends a dry run for an offering that does not exist, and one for an existing offering with a role that may not buy. Passes when each code is in
    `REFUSED_BEFORE_EXECUTION` in `ultracluster_runtime/purchasing/aws_errors.py`; add a missing code there with the date. A missing code makes somebody check a
    purchase that did not happen; it never costs money.
    """
    ec2 = live.client("ec2", live.block_region)
    codes = {dry_run(live, ec2, "cb-00000000000000000", "capacity-reservation")}
    denied = assume(live, {"Action": "ec2:DescribeCapacityBlockOfferings"})
    codes.add(dry_run(live, denied, offering(live), "capacity-reservation"))
    unknown = codes - set(REFUSED_BEFORE_EXECUTION) - {"DryRunOperation"}
    assert not unknown, f"not known to come before execution: {', '.join(sorted(unknown))}"
    assert "DryRunOperation" not in codes, "a role without permission could buy"


# What AWS Batch and DynamoDB accept


def environment(live: Live, base: Cluster, suffix: str, **changes: Any) -> dict[str, Any]:
    """Create an empty compute environment like that of the cluster, and return it when it is settled."""
    batch, resources = base.client("batch"), dict(base.environment()["computeResources"])
    taken = {
        key: resources[key]
        for key in ("subnets", "instanceRole", "launchTemplate", "type", "ec2Configuration")
        if key in resources
    }
    taken |= {
        "minvCpus": 0,
        "maxvCpus": 8,
        "instanceTypes": [SMALL],
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
    }
    taken |= {"tags": live.tags}
    name = live.name(suffix)
    batch.create_compute_environment(
        computeEnvironmentName=name, type="MANAGED", tags=live.tags, computeResources=taken | changes
    )

    return settled(live, base, name)


def settled(live: Live, base: Cluster, name: str) -> dict[str, Any]:
    """Return an environment when it is VALID or INVALID."""

    def ended() -> Any:
        (found,) = base.client("batch").describe_compute_environments(computeEnvironments=[name])[
            "computeEnvironments"
        ]
        return found if found["status"] in {"VALID", "INVALID"} else None

    return dict(live.wait("the environment", ended, minutes=5, every=5))


@question("L110", tier=1, minutes=2, needs=["L83"], checks=["UC9710"])
def test_batch_names_our_types_when_it_refuses_another(live: Live) -> None:
    """Which instance types does AWS Batch know?

    When `CreateComputeEnvironment` names a type that does not exist, AWS Batch refuses it with the list of types that it knows. Passes when the list has each
    Trainium type in the catalogue that is sold in the Region. No published list includes trn2 types (aws/amazon-genomics-cli#209, Netflix/metaflow#70).
    """
    base = Cluster(live, live.of("L83"))
    message = live.refused(
        lambda: environment(live, base, "bogus", instanceTypes=["zz9.large"]), "ClientException"
    )
    named = set(re.findall(r"[a-z0-9-]+(?:\.[a-z0-9-]+)?", message))
    live.note(named=sorted(each for each in named if each.startswith(("trn", "inf", "p5", "p6"))))
    missing = [
        name
        for name in INSTANCE_TYPES
        if name.startswith("trn") and name not in named and name.partition(".")[0] not in named
    ]
    assert not missing, f"AWS Batch does not name {', '.join(missing)}"


@question("L111", tier=1, minutes=5, needs=["L83"])
def test_batch_takes_a_scale_down_delay(live: Live) -> None:
    """Does AWS Batch accept `minScaleDownDelayMinutes` for an environment with BEST_FIT, which blocks use?

    Calls `CreateComputeEnvironment` without nodes, with BEST_FIT and a delay of a day. Passes when the environment becomes VALID and reports the delay.
    """
    base = Cluster(live, live.of("L83"))
    found = environment(
        live, base, "delay", allocationStrategy="BEST_FIT", scalingPolicy={"minScaleDownDelayMinutes": 1440}
    )
    assert found["status"] == "VALID", f"INVALID: {found.get('statusReason')}"
    policy = found["computeResources"].get("scalingPolicy", {})
    assert policy.get("minScaleDownDelayMinutes") == 1440, f"the delay is not shown: {policy}"


# Unmanaged environments, on which nodes of an Auto Scaling group would run jobs (docs/decisions/0024-auto-scaling-road.md)


def unmanaged(live: Live, base: Cluster, **changes: Any) -> dict[str, Any]:
    """Create an unmanaged environment without instances, and return it when it is settled."""
    iam, batch = live.client("iam"), base.client("batch")
    trust = {"Effect": "Allow", "Principal": {"Service": "batch.amazonaws.com"}, "Action": "sts:AssumeRole"}
    manage = {"Effect": "Allow", "Action": _OF_A_SERVICE_ROLE, "Resource": "*"}
    role = iam.create_role(
        Path=f"/live-{live.run.id}/",
        RoleName=f"live-{live.run.id}-batch-{live.question.id}",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
        Tags=live.tag_list,
    )["Role"]
    document = json.dumps({"Version": "2012-10-17", "Statement": [manage]})
    iam.put_role_policy(RoleName=role["RoleName"], PolicyName="one", PolicyDocument=document)
    live.run.where.sleep(15)  # roles reach AWS Batch later than IAM
    name = live.name("unmanaged")
    batch.create_compute_environment(
        computeEnvironmentName=name, type="UNMANAGED", serviceRole=role["Arn"], tags=live.tags, **changes
    )
    return settled(live, base, name)


@question("L120", tier=1, minutes=3)
def test_an_unmanaged_environment_without_a_service_role_is_refused(live: Live) -> None:
    """Does AWS Batch refuse an unmanaged environment without a service role?

    Calls `CreateComputeEnvironment` with type UNMANAGED and no `serviceRole`. Passes when AWS Batch refuses it; the record has the message. This is F0 in
    [decision 0024](../decisions/0024-auto-scaling-road.md).
    """

    def create() -> None:
        live.client("batch").create_compute_environment(
            computeEnvironmentName=live.name("unmanaged"), type="UNMANAGED", tags=live.tags
        )

    live.note(message=live.refused(create, "ClientException"))


@question("L121", tier=1, minutes=10, needs=["L83"])
def test_an_unmanaged_environment_names_its_cluster_and_keeps_it(live: Live) -> None:
    """Does an unmanaged environment have its ECS cluster as soon as it is VALID, and keep it after an update?

    Calls `DescribeComputeEnvironments` for a new unmanaged environment, and again after the environment was disabled. Passes when both answers have the same
    `ecsClusterArn`, so that user data can name the cluster. This is F1 in [decision 0024](../decisions/0024-auto-scaling-road.md).
    """
    base = Cluster(live, live.of("L83"))
    before = unmanaged(live, base)
    assert before["status"] == "VALID", f"INVALID: {before.get('statusReason')}"
    assert before.get("ecsClusterArn"), "a VALID environment names no cluster"
    name = before["computeEnvironmentName"]
    base.client("batch").update_compute_environment(computeEnvironment=name, state="DISABLED")
    after = settled(live, base, name)
    assert after["ecsClusterArn"] == before["ecsClusterArn"], "the update changed the cluster"


@question("L122", tier=1, minutes=10, needs=["L83"])
def test_a_queue_over_managed_and_unmanaged_environments_is_valid_or_refused(live: Live) -> None:
    """May one queue have managed and unmanaged environments?

    Calls `CreateJobQueue` with the first environment of L83 and an unmanaged one. Passes when the queue becomes VALID, or when CreateJobQueue refuses it; the
    record says which. If the queue became INVALID instead, its jobs would wait without a message. This is F2 in [decision
    0024](../decisions/0024-auto-scaling-road.md).
    """
    base = Cluster(live, live.of("L83"))
    other = unmanaged(live, base)
    order = [base.environment()["computeEnvironmentArn"], other["computeEnvironmentArn"]]
    refused: Any = {}
    try:
        queue(live, base, *order)
    except ClientError as error:
        refused = error.response["Error"]
    live.note(refused=refused)
    assert refused.get("Code", "ClientException") == "ClientException", f"{refused}"


@question("L123", tier=1, minutes=20, needs=["L83"])
def test_a_multi_node_job_on_an_unmanaged_environment_does_not_run(live: Live) -> None:
    """What does AWS Batch do with a multi-node job on an unmanaged environment?

    Submits a job of two nodes to a queue with an unmanaged environment that has no instances. Passes when SubmitJob refuses it, as the guide suggests, or when
    it does not run within 10 minutes; the record says which. This is F3 in [decision 0024](../decisions/0024-auto-scaling-road.md).
    """
    base = Cluster(live, live.of("L83"))
    arn = queue(live, base, unmanaged(live, base)["computeEnvironmentArn"])
    try:
        job = base.submit("pair", queue_arn=arn)
    except ClientError as error:
        live.note(refused=error.response["Error"])
        return
    waiting = {"SUBMITTED", "PENDING", "RUNNABLE", "FAILED"}
    live.stay("the job waits", lambda: base.job(job)["status"] in waiting, minutes=10)
    live.note(status=base.job(job)["status"], reason=base.job(job).get("statusReason", ""))


@question("L125", tier=1, cost=nodes(SMALL), minutes=35, needs=["L83"], nodes=1)
def test_an_array_child_starts_on_an_instance_that_joined_by_itself(live: Live) -> None:
    """Does an array child start on an instance that joined through ECS_CLUSTER alone, and which status does it get when its parent is terminated?

    Launches one instance whose user data writes the cluster of an unmanaged environment to `/etc/ecs/ecs.config`, submits an array of two, and terminates the
    array. Passes when one child runs, and then both are FAILED with the reason given to TerminateJob. The record has the attributes of the child's container,
    including its network. This is F5 and F6 in [decision 0024](../decisions/0024-auto-scaling-road.md).
    """
    base = Cluster(live, live.of("L83"))
    joined = unmanaged(live, base)
    arn = queue(live, base, joined["computeEnvironmentArn"])
    cluster = joined["ecsClusterArn"].rpartition("/")[2]
    base.launch(UserData=f"#!/bin/bash\necho ECS_CLUSTER={cluster} >>/etc/ecs/ecs.config\n")
    job = base.submit("spot", queue_arn=arn, arrayProperties={"size": 2})
    children = [f"{job}:{number}" for number in range(2)]

    def running() -> Any:
        return next((found for each in children if (found := base.job(each))["status"] == "RUNNING"), None)

    child = live.wait("a child runs", running, minutes=20)
    live.note(container=child.get("container", {}))
    reason = "live test: the parent"
    base.client("batch").terminate_job(jobId=job, reason=reason)

    def ended() -> Any:
        found = [base.job(each) for each in children]
        return found if all(each["status"] in {"SUCCEEDED", "FAILED"} for each in found) else None

    ends = [(each["status"], each.get("statusReason")) for each in live.wait("the end", ended, minutes=5)]
    live.note(ends=ends)
    assert ends == [("FAILED", reason)] * 2, f"the children ended as {ends}"


def queue(live: Live, base: Cluster, *environments: str) -> str:
    """Create a job queue over environments, and return its ARN when it is VALID."""
    batch = base.client("batch")
    order = [{"order": place, "computeEnvironment": arn} for place, arn in enumerate(environments)]
    arn = batch.create_job_queue(
        jobQueueName=live.name("queue"), priority=1, computeEnvironmentOrder=order, tags=live.tags
    )["jobQueueArn"]

    def ended() -> Any:
        (found,) = batch.describe_job_queues(jobQueues=[arn])["jobQueues"]
        return found if found["status"] in {"VALID", "INVALID"} else None

    found = live.wait("the queue", ended, minutes=5, every=5)
    assert found["status"] == "VALID", f"INVALID: {found.get('statusReason')}"
    return str(arn)


# The cluster


@question(
    "L83", tier=1, cost=cluster(), minutes=45, stands=True, checks=["UC9711", "UC9712", "UC9713", "UC9714"]
)
def test_exported_templates_deploy_by_boto3(live: Live) -> None:
    """Do exported templates deploy without the CDK?

    Exports a rollout of small on-demand and Spot nodes, uploads it and creates its three stacks as [export.md](../how-to/export.md) describes; no node starts.
    Passes when the stacks are complete, every compute environment and queue is VALID, and the launch template has the AMI. The stacks remain until the last
    question that needs them. A new account with a quota of 10 concurrent executions also shows that no function reserves concurrency.
    """
    found = deploy(live, "small.yaml", ZONE_ID=zone_of(live, SMALL), IMAGE_ID=image_id(live))
    for name in ("", "spot", "spill"):
        shown = found.environment(name)
        assert shown["status"] == "VALID", f"environment {name or 'capacity'}: {shown.get('statusReason')}"
    queues = found.client("batch").describe_job_queues(
        jobQueues=[found.one("ClusterQueue"), found.one("ClusterQueuespot")]
    )
    assert {each["status"] for each in queues["jobQueues"]} == {"VALID"}
    assert found.template_data()["ImageId"].startswith("ami-")


@question("L8", tier=1, minutes=15, needs=["L83"])
def test_a_changed_launch_template_updates_the_environment_in_place(live: Live) -> None:
    """Does a changed launch template reach the compute environment without replacing it?

    Updates the stack of L83 with another size of the root volume. Passes when the environment has the same ARN, a newer version of the launch template, and
    status VALID. Environments with BEST_FIT, which blocks use, are replaced by design and are not tested here.
    """
    base = Cluster(live, live.of("L83"))
    before = base.environment()
    stacks, s3 = live.client("cloudformation"), live.client("s3")
    bucket, stack = live.of("L83")["bucket"], f"live-{live.run.id}-cluster"
    text = s3.get_object(Bucket=bucket, Key="cluster.json")["Body"].read().decode()
    changed = re.sub(r'("VolumeSize": ?)(\d+)', lambda found: f"{found[1]}{int(found[2]) + 10}", text)
    assert changed != text, "the template does not name the size of the root volume"
    s3.put_object(Bucket=bucket, Key="cluster.json", Body=changed.encode())
    base_url = (
        f"{live.run.where.endpoint}/{bucket}"
        if live.run.where.endpoint
        else f"https://{bucket}.s3.{live.region}.amazonaws.com"
    )
    shown = stacks.describe_stacks(StackName=stack)["Stacks"][0]
    kept = [
        {"ParameterKey": each["ParameterKey"], "UsePreviousValue": True}
        for each in shown.get("Parameters", [])
    ]
    stacks.update_stack(
        StackName=stack,
        TemplateURL=f"{base_url}/cluster.json",
        Parameters=kept,
        Capabilities=["CAPABILITY_NAMED_IAM"],
        Tags=shown["Tags"],
    )

    def updated() -> str:
        status = str(stacks.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"])
        return "" if status.endswith("IN_PROGRESS") else status

    status = live.wait("the update", updated, minutes=12)
    assert status == "UPDATE_COMPLETE", status
    found = base.client("batch").describe_compute_environments()["computeEnvironments"]
    after = [each for each in found if each["computeEnvironmentArn"] == before["computeEnvironmentArn"]]
    assert after, "the environment was replaced"
    versions = [each["computeResources"]["launchTemplate"]["version"] for each in (before, after[0])]
    assert versions[0] != versions[1], f"the environment still has version {versions[0]}"
    assert after[0]["status"] == "VALID", after[0].get("statusReason")


# Nodes of the cluster


@question("L103", tier=1, cost=nodes(SMALL), minutes=30, needs=["L83"], nodes=1)
def test_a_node_joins_and_runs_a_job_with_its_limited_policy(live: Live) -> None:
    """Do nodes join, and connect to Session Manager, with a policy limited to their account and Region?

    Submits a single-node job. Passes when it runs and its log exists, `ecs:ListContainerInstances` lists the node, Session Manager shows it as Online, and
    CloudTrail has no AccessDenied for the node's role.
    """
    base = Cluster(live, live.of("L83"))
    job = base.wait_for(base.submit("check"), minutes=25)
    assert "shown" in base.log(job), "the job's log is not there"
    (node,) = base.nodes("pending", "running", "shutting-down", "stopping")
    cluster_arn = base.environment()["ecsClusterArn"]
    joined = base.client("ecs").list_container_instances(cluster=cluster_arn)["containerInstanceArns"]
    assert joined, "no node has joined"
    online = base.client("ssm").describe_instance_information(
        Filters=[{"Key": "InstanceIds", "Values": [node["InstanceId"]]}]
    )["InstanceInformationList"]
    assert [each["PingStatus"] for each in online] == ["Online"], f"Session Manager: {online}"
    attribute = {"AttributeKey": "Username", "AttributeValue": node["InstanceId"]}
    events = base.client("cloudtrail").lookup_events(LookupAttributes=[attribute])["Events"]
    denied = [each["EventName"] for each in events if "AccessDenied" in each.get("CloudTrailEvent", "")]
    assert denied == [], f"the node's role may not {denied}"


@question("L63", tier=1, cost=nodes(SMALL, 2), minutes=30, needs=["L83"], nodes=2, checks=["UC9458"])
def test_a_multi_node_job_runs_without_efa(live: Live) -> None:
    """Does a multi-node job run on a type without EFA, and which security group does its task get?

    Submits a job of two nodes with `without_efa: true`. Passes when both nodes run the program and print its output, and each node has one interface more than its launch template, with the
    VPC's default security group, as the Batch User Guide says of multi-node jobs.
    """
    base = Cluster(live, live.of("L83"))
    base.wait_for(base.submit("pair"), status="RUNNING", minutes=25)
    ids = [each["InstanceId"] for each in base.nodes()]
    assert len(ids) == 2, f"{len(ids)} nodes"
    filters = [{"Name": "attachment.instance-id", "Values": ids}]
    interfaces = base.client("ec2").describe_network_interfaces(Filters=filters)["NetworkInterfaces"]
    groups = [{each["GroupName"] for each in one["Groups"]} for one in interfaces]
    tasks = [each for each in groups if each == {"default"}]
    assert len(tasks) == 2, f"the interfaces have the groups {groups}"


@question("L4", tier=1, cost=nodes(SMALL), minutes=20, needs=["L83"], nodes=1)
def test_a_node_without_its_devices_refuses_and_terminates_itself(live: Live) -> None:
    """Does a node without EFA refuse to join, report why on its console, and terminate itself?

    Launches one trn1.2xlarge, which has no EFA device, from the launch template with `UC_EFA_DEVICES=1`. Passes when the instance terminates itself, and
    `GetConsoleOutput` has the line `refused to join the cluster` with the reason. Note how long the console output can be read after the node is gone.
    """
    base = Cluster(live, live.of("L83"))
    data = base64.b64decode(base.template_data()["UserData"]).decode()
    changed = data.replace("UC_EFA_DEVICES='0'", "UC_EFA_DEVICES='1'")
    assert changed != data, "the user data does not name the devices"
    ec2 = base.client("ec2")
    (node,) = base.launch(UserData=changed)

    def ended() -> bool:
        (found,) = ec2.describe_instances(InstanceIds=[node["InstanceId"]])["Reservations"][0]["Instances"]
        return found["State"]["Name"] in {"shutting-down", "terminated"}

    live.wait("the node terminates itself", ended, minutes=15)

    def console() -> str:
        return str(ec2.get_console_output(InstanceId=node["InstanceId"], Latest=False).get("Output", ""))

    said = live.wait("the console", console, minutes=4)
    assert "refused to join the cluster" in said, f"the console ends with {said[-200:]!r}"


@question("L41", tier=1, cost=nodes(SMALL, 2), minutes=40, needs=["L83"], nodes=1)
def test_a_multi_node_job_goes_on_to_the_second_source(live: Live) -> None:
    """Does a multi-node job move to the second source while the first is closed?

    Disables the first environment of the queue and submits a job of one node. Passes when it runs in the second. By hand: give the queue `exceeds_environments`
    of 10 minutes, and set the second environment's maxvCpus too low for the job. If the job is not cancelled, AWS Batch counts closed environments, and UC6307
    can allow that limit before a block.
    """
    base = Cluster(live, live.of("L83"))
    batch, first = base.client("batch"), base.environment()
    batch.update_compute_environment(computeEnvironment=first["computeEnvironmentArn"], state="DISABLED")
    live.undo(
        lambda: batch.update_compute_environment(
            computeEnvironment=first["computeEnvironmentArn"], state="ENABLED"
        )
    )
    live.wait("the first source is closed", lambda: base.environment()["state"] == "DISABLED", minutes=3)
    base.wait_for(base.submit("pair", nodeOverrides={"numNodes": 1}), status="RUNNING", minutes=30)
    assert base.desired("spill") > 0, "the second source wants no nodes"
    assert base.desired() == 0, "the first source, which is closed, wants nodes"
