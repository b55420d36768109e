"""Tier 1: up to 18 USD. One cluster of small on-demand and Spot nodes, and what an account answers to dry runs and roles."""

import base64
import contextlib
import datetime as dt
import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from botocore.exceptions import ClientError
from tests.live.cluster import Cluster, deploy, image_id, zone_of
from tests.live.costs import cluster, nodes
from tests.live.janitor import RUN_TAG
from tests.live.question import Cost, asks
from tests.live.session import Live

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_runtime.purchasing.aws_errors import REFUSED_BEFORE_EXECUTION

SMALL = "trn1.2xlarge"
# Above the on-demand price of us-east-1, which no dated source of the catalogue states.
CPU_HOST = Cost(hourly=Decimal(5), what="1 m7i.24xlarge")
SOLD = "trn2.3xlarge"
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


@asks("L117", decides="small", tier=1, minutes=15)
def net(live: Live) -> None:
    """Does the cleanup schedule of a live run remove what is left when the machine that started the run is gone?

    Makes a launch template with the tags of the run, and lets the schedule fire at once. Passes when the launch template is gone within ten minutes; until
    then, nothing else removes it.
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


def offering(live: Live) -> str:
    """Return the ID of the cheapest offering of a day."""
    found = live.client("ec2", live.block_region).describe_capacity_block_offerings(
        CapacityDurationHours=24, InstanceType=SOLD, InstanceCount=1
    )["CapacityBlockOfferings"]
    assert found, f"nothing is offered: {SOLD} in {live.block_region}"
    return str(min(found, key=lambda each: float(each["UpfrontFee"]))["CapacityBlockOfferingId"])


def dry_run(live: Live, ec2: Any, offered: str, *, tagged: bool = True) -> str:
    """Return the code that EC2 answers to the dry run of a purchase, with the tag of an order or without it."""
    tags = [{"ResourceType": "capacity-reservation", "Tags": [{"Key": "uc:po", "Value": "check"}]}]
    more = {"TagSpecifications": tags} if tagged else {}
    try:
        ec2.purchase_capacity_block(
            CapacityBlockOfferingId=offered, InstancePlatform="Linux/UNIX", DryRun=True, **more
        )
    except ClientError as error:
        said = error.response["Error"]
        live.note(**{f"answer with{'' if tagged else 'out'} a tag": said})
        return str(said["Code"])
    raise AssertionError("a dry run was answered as if it had been sent")


def make_role(live: Live, suffix: str, principal: dict[str, str], **statement: Any) -> str:
    """Make a role with one statement, and return its ARN."""
    iam = live.client("iam")
    trust = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    role = iam.create_role(
        Path=f"/live-{live.run.id}/",
        RoleName=f"live-{live.run.id}-{suffix}-{live.question.id}",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
        Tags=live.tag_list,
    )["Role"]
    document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Resource": "*", **statement}]}
    iam.put_role_policy(RoleName=role["RoleName"], PolicyName="one", PolicyDocument=json.dumps(document))
    return str(role["Arn"])


def assume(live: Live, **statement: Any) -> Any:
    """Return an EC2 client of a role that has one statement."""
    sts, where = live.client("sts"), live.run.where
    account = sts.get_caller_identity()["Account"]
    arn = make_role(live, "buyer", {"AWS": f"arn:aws:iam::{account}:root"}, **statement)

    def credentials() -> Any:
        with contextlib.suppress(ClientError):
            return sts.assume_role(RoleArn=arn, RoleSessionName="live")["Credentials"]

    given = live.wait("the role can be assumed", credentials, minutes=2, every=5)
    where.sleep(15)  # policies reach EC2 later than AWS STS
    return where.session.client(
        "ec2",
        region_name=live.block_region,
        endpoint_url=where.endpoint or None,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )


@asks("L20", decides="buying", tier=1)
def type_of_a_block_in_iam(live: Live) -> None:
    """Does EC2 pass the type and the count of a block to IAM when it is bought?

    Assumes a role that may call `ec2:PurchaseCapacityBlock` only if `ec2:InstanceType` differs from the type of the offering, and sends a dry run, which buys
    nothing. `UnauthorizedOperation` shows that EC2 passes the type to IAM; `aws sts decode-authorization-message` then lists the condition keys.
    `DryRunOperation` shows that it does not, as the Service Authorization Reference says; then only the quota limits what can be bought. The question passes
    with either code and records which one it got.
    """
    condition = {"StringNotEqualsIfExists": {"ec2:InstanceType": SOLD}}
    ec2 = assume(live, Action="ec2:PurchaseCapacityBlock", Condition=condition)
    code = dry_run(live, ec2, offering(live))
    assert code in {"DryRunOperation", "UnauthorizedOperation"}, f"neither allowed nor denied: {code}"
    live.note(gives_the_type=code == "UnauthorizedOperation")


@asks("L21", decides="buying", tier=1)
def purchase_without_the_tag(live: Live) -> None:
    """Does AWS refuse a purchase without its order's tag?

    Assumes a role that may call `ec2:PurchaseCapacityBlock` and `ec2:CreateTags` only with the request tag `uc:po`. Passes when a dry run with the tag answers
    `DryRunOperation` and one without it `UnauthorizedOperation`.
    """
    tagged = {"Null": {"aws:RequestTag/uc:po": "false"}}
    ec2 = assume(live, Action=["ec2:PurchaseCapacityBlock", "ec2:CreateTags"], Condition=tagged)
    offered = offering(live)
    codes = [dry_run(live, ec2, offered, tagged=with_tag) for with_tag in (True, False)]
    assert codes == ["DryRunOperation", "UnauthorizedOperation"], f"with and without a tag: {codes}"


@asks("L30", decides="buying", tier=1, minutes=2)
def dry_run_of_a_purchase(live: Live) -> None:
    """Does the dry run of a purchase answer `DryRunOperation`, with and without tags?

    Sends the dry run of a purchase with the tag `uc:po` and without it; `ultracluster capacity buy` sends the same dry run before it asks. Passes when both
    answer `DryRunOperation`. By hand: `ultracluster capacity approve --below-list` with a cap of 1 USD below the cheapest offering shows no purchase.
    """
    ec2, offered = live.client("ec2", live.block_region), offering(live)
    codes = [dry_run(live, ec2, offered, tagged=with_tag) for with_tag in (True, False)]
    assert codes == ["DryRunOperation"] * 2, f"with and without a tag: {codes}"


@asks("L33", decides="buying", tier=1)
def refusals_of_purchases(live: Live) -> None:
    """Which error codes does AWS return when an offering is gone, or the caller may not buy?

    Sends a dry run for an offering that does not exist, and one for an existing offering with a role that may not buy. Passes when each code is in
    `REFUSED_BEFORE_EXECUTION` in `ultracluster_runtime/purchasing/aws_errors.py`; add a missing code there with the date. A missing code makes somebody check a
    purchase that did not happen; it never costs money.
    """
    denied = assume(live, Action="ec2:DescribeCapacityBlockOfferings")
    codes = {
        dry_run(live, live.client("ec2", live.block_region), "cb-00000000000000000"),
        dry_run(live, denied, offering(live)),
    }
    assert "DryRunOperation" not in codes, "a role without permission could buy"
    unknown = codes - set(REFUSED_BEFORE_EXECUTION)
    assert not unknown, f"not known to come before execution: {', '.join(sorted(unknown))}"


# The cluster


@asks(
    "L83",
    decides="small",
    tier=1,
    cost=cluster(hours=5),
    minutes=45,
    stands=True,
    checks=("UC9711", "UC9712", "UC9713", "UC9714"),
)
def exported_templates(live: Live) -> None:
    """Do exported templates deploy without the CDK?

    Exports a rollout of small on-demand and Spot nodes, uploads it and creates its three stacks as [export.md](../how-to/export.md) describes; no node starts.
    Passes when the stacks are complete, every compute environment and queue is VALID, and the launch template has the AMI. The stacks remain for the other
    questions of this tier. A new account with a quota of 10 concurrent executions also shows that no function reserves concurrency.
    """
    base = deploy(live, "small.yaml", ZONE_ID=zone_of(live, SMALL), IMAGE_ID=image_id(live))
    for name in ("", "spot", "spill"):
        shown = base.environment(name)
        assert shown["status"] == "VALID", f"environment {name or 'capacity'}: {shown.get('statusReason')}"
    queues = base.client("batch").describe_job_queues(
        jobQueues=[base.one("ClusterQueue"), base.one("ClusterQueuespot")]
    )["jobQueues"]
    states = [(each["status"], each.get("statusReason")) for each in queues]
    assert {status for status, _ in states} == {"VALID"}, f"the queues are {states}"
    image = base.template_data()["ImageId"]
    assert image.startswith("ami-"), f"the launch template has the image {image}"


def small(live: Live) -> Cluster:
    """Return the cluster of L83."""
    return Cluster(live, live.of("L83"))


def settled(live: Live, what: str, describe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return an environment or a queue of AWS Batch when it is VALID.

    Raises:
        AssertionError: If it becomes INVALID.
    """

    def ended() -> Any:
        found = describe()
        return found if found["status"] in {"VALID", "INVALID"} else None

    found = dict(live.wait(what, ended, minutes=5, every=5))
    assert found["status"] == "VALID", f"{what} is INVALID: {found.get('statusReason')}"
    return found


def environment(live: Live, base: Cluster, **request: Any) -> dict[str, Any]:
    """Create a compute environment without nodes, and return it when it is VALID."""
    batch, name = base.client("batch"), live.name("environment")
    batch.create_compute_environment(computeEnvironmentName=name, tags=live.tags, **request)
    return settled(
        live,
        "the environment",
        lambda: batch.describe_compute_environments(computeEnvironments=[name])["computeEnvironments"][0],
    )


def managed(live: Live, base: Cluster, **changes: Any) -> dict[str, Any]:
    """Create an environment like that of the cluster, and return it when it is VALID."""
    known = base.environment()["computeResources"]
    kept = ("subnets", "instanceRole", "launchTemplate", "type", "ec2Configuration")
    resources = {
        **{key: known[key] for key in kept if key in known},
        "minvCpus": 0,
        "maxvCpus": 8,
        "instanceTypes": [SMALL],
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
        "tags": live.tags,
        **changes,
    }
    return environment(live, base, type="MANAGED", computeResources=resources)


@asks("L110", decides="batch", tier=1, minutes=2, needs=("L83",), checks=("UC9710",))
def types_that_batch_knows(live: Live) -> None:
    """Which instance types does AWS Batch know?

    When `CreateComputeEnvironment` names a type that does not exist, AWS Batch refuses it with the list of types that it knows. Passes when the list has each
    Trainium type in the catalogue that is sold in the Region. No published list includes trn2 types (aws/amazon-genomics-cli#209, Netflix/metaflow#70).
    """
    base = small(live)
    message = live.refused(lambda: managed(live, base, instanceTypes=["zz9.large"]), "ClientException")
    named = set(re.findall(r"[a-z0-9-]+(?:\.[a-z0-9-]+)?", message))
    live.note(named=sorted(each for each in named if each.startswith(("trn", "inf", "p5", "p6"))))
    trainium = [name for name in INSTANCE_TYPES if name.startswith("trn")]
    missing = [name for name in trainium if not {name, name.partition(".")[0]} & named]
    assert not missing, f"AWS Batch does not name {', '.join(missing)}"


@asks("L111", decides="batch", tier=1, needs=("L83",))
def scale_down_delay(live: Live) -> None:
    """Does AWS Batch accept `minScaleDownDelayMinutes` for an environment with BEST_FIT, which blocks use?

    Calls `CreateComputeEnvironment` without nodes, with BEST_FIT and a delay of a day. Passes when the environment becomes VALID and reports the delay.
    """
    delay = {"minScaleDownDelayMinutes": 1440}
    found = managed(live, small(live), allocationStrategy="BEST_FIT", scalingPolicy=delay)
    policy = found["computeResources"].get("scalingPolicy", {})
    assert policy == delay, f"the delay is not shown: {policy}"


# Unmanaged environments, on which nodes of an Auto Scaling group run jobs (docs/decisions/0024-auto-scaling-road.md)


def unmanaged(live: Live, base: Cluster) -> dict[str, Any]:
    """Create an unmanaged environment without instances, and return it when it is VALID."""
    role = make_role(live, "batch", {"Service": "batch.amazonaws.com"}, Action=_OF_A_SERVICE_ROLE)
    live.run.where.sleep(15)  # roles reach AWS Batch later than IAM
    return environment(live, base, type="UNMANAGED", serviceRole=role)


def queue_of_an_instance_that_joins(live: Live, base: Cluster, boot: str = "") -> str:
    """Launch an instance that joins an unmanaged environment by its user data, and return the ARN of a queue before it."""
    batch, joined = base.client("batch"), unmanaged(live, base)
    arn = batch.create_job_queue(
        jobQueueName=live.name("queue"),
        priority=1,
        computeEnvironmentOrder=[{"order": 0, "computeEnvironment": joined["computeEnvironmentArn"]}],
        tags=live.tags,
    )["jobQueueArn"]
    settled(live, "the queue", lambda: batch.describe_job_queues(jobQueues=[arn])["jobQueues"][0])
    name = joined["ecsClusterArn"].rpartition("/")[2]
    base.launch(f"#!/bin/bash\n{boot}echo ECS_CLUSTER={name} >>/etc/ecs/ecs.config\n")
    return str(arn)


@asks("L121", decides="group", tier=1, minutes=10, needs=("L83",))
def cluster_of_an_unmanaged_environment(live: Live) -> None:
    """Does an unmanaged environment have its ECS cluster as soon as it is VALID, and keep it after an update?

    Calls `DescribeComputeEnvironments` for a new unmanaged environment, and again after the environment was disabled. Passes when both answers have the same
    `ecsClusterArn`, so that user data can name the cluster. This is F1 in [decision 0024](../decisions/0024-auto-scaling-road.md).
    """
    base = small(live)
    batch, before = base.client("batch"), unmanaged(live, base)
    assert before.get("ecsClusterArn"), "a VALID environment names no cluster"
    name = before["computeEnvironmentName"]
    batch.update_compute_environment(computeEnvironment=name, state="DISABLED")
    after = settled(
        live,
        "the update",
        lambda: batch.describe_compute_environments(computeEnvironments=[name])["computeEnvironments"][0],
    )
    assert after["ecsClusterArn"] == before["ecsClusterArn"], "the update changed the cluster"


@asks("L8", decides="small", tier=1, minutes=15, needs=("L83",))
def changed_launch_template(live: Live) -> None:
    """Does a changed launch template reach the compute environment without replacing it?

    Updates the stack of L83 with another size of the root volume. Passes when the environment has the same ARN, a newer version of the launch template, and
    status VALID. Environments with BEST_FIT, which blocks use, are replaced by design and are not tested here.
    """
    base = small(live)
    before, arn = base.environment(), base.one("ClusterQueueComputeEnvironment")
    text = live.client("s3").get_object(Bucket=base.bucket, Key="cluster.json")["Body"].read().decode()
    changed = re.sub(r'("VolumeSize": ?)(\d+)', lambda found: f"{found[1]}{int(found[2]) + 10}", text)
    assert changed != text, "the template does not name the size of the root volume"
    base.put_stack("cluster", changed)
    after = base.environment()
    assert base.one("ClusterQueueComputeEnvironment") == arn, "the environment was replaced"
    versions = [each["computeResources"]["launchTemplate"]["version"] for each in (before, after)]
    assert versions[0] != versions[1], f"the environment still has version {versions[0]}"
    assert after["status"] == "VALID", after.get("statusReason")


# Nodes of the cluster


@asks("L4", decides="small", tier=1, cost=nodes(SMALL), minutes=20, needs=("L83",), nodes=1)
def node_without_its_devices(live: Live) -> None:
    """Does a node without EFA refuse to join, report why on its console, and terminate itself?

    Launches one trn1.2xlarge, which has no EFA device, from the launch template with `UC_EFA_DEVICES=1`. Passes when the instance terminates itself, and
    `GetConsoleOutput` has the line `refused to join the cluster` with the reason. Note how long the console output can be read after the node is gone.
    """
    base = small(live)
    data = base64.b64decode(base.template_data()["UserData"]).decode()
    changed = data.replace("UC_EFA_DEVICES='0'", "UC_EFA_DEVICES='1'")
    assert changed != data, "the user data does not name the devices"
    ec2, node = base.client("ec2"), base.launch(changed)

    def ended() -> bool:
        (found,) = ec2.describe_instances(InstanceIds=[node])["Reservations"][0]["Instances"]
        return found["State"]["Name"] in {"shutting-down", "terminated"}

    live.wait("the node terminates itself", ended, minutes=15)
    said = live.wait(
        "the console", lambda: ec2.get_console_output(InstanceId=node, Latest=False).get("Output"), minutes=4
    )
    assert "refused to join the cluster" in said, f"the console ends with {said[-200:]!r}"


@asks("L103", decides="small", tier=1, cost=nodes(SMALL), minutes=30, needs=("L83",))
def limited_policy_of_nodes(live: Live) -> None:
    """Do nodes join, and connect to Session Manager, with a policy limited to their account and Region?

    Submits a single-node job. Passes when it runs and its log exists, `ecs:ListContainerInstances` lists the node, Session Manager shows it as Online, and
    CloudTrail has no AccessDenied for the node's role.
    """
    base = small(live)
    job = base.wait_for(base.submit("check"), minutes=25)
    assert "shown" in base.log(job["container"]["logStreamName"]), "the job's log is not there"
    (node,) = base.nodes("pending", "running", "shutting-down", "stopping")
    ecs, cluster_arn = base.client("ecs"), base.environment()["ecsClusterArn"]
    joined = ecs.list_container_instances(cluster=cluster_arn)["containerInstanceArns"]
    assert joined, "no node has joined"
    online = base.client("ssm").describe_instance_information(
        Filters=[{"Key": "InstanceIds", "Values": [node["InstanceId"]]}]
    )["InstanceInformationList"]
    assert [each["PingStatus"] for each in online] == ["Online"], f"Session Manager: {online}"
    attribute = {"AttributeKey": "Username", "AttributeValue": node["InstanceId"]}
    events = base.client("cloudtrail").lookup_events(LookupAttributes=[attribute])["Events"]
    denied = [each["EventName"] for each in events if "AccessDenied" in each.get("CloudTrailEvent", "")]
    assert denied == [], f"the node's role may not {denied}"


@asks("L125", decides="group", tier=1, cost=nodes(SMALL), minutes=35, needs=("L83",), nodes=1)
def child_on_an_instance_that_joined_by_itself(live: Live) -> None:
    """Does an array child start on an instance that joined through ECS_CLUSTER alone, and which status does it get when its parent is terminated?

    Launches one instance whose user data writes the cluster of an unmanaged environment to `/etc/ecs/ecs.config`, submits an array of two, and terminates the
    array. Passes when one child runs, and then both are FAILED with the reason given to TerminateJob. The record has the attributes of the child's container,
    including its network. This is F5 and F6 in [decision 0024](../decisions/0024-auto-scaling-road.md).
    """
    base = small(live)
    batch, arn = base.client("batch"), queue_of_an_instance_that_joins(live, base)
    job = base.submit("spot", queue_arn=arn, arrayProperties={"size": 2})
    children = [f"{job}:{number}" for number in range(2)]

    def running() -> Any:
        return next((found for each in children if (found := base.job(each))["status"] == "RUNNING"), None)

    live.note(container=live.wait("a child runs", running, minutes=20).get("container", {}))
    reason = "live question: the parent"
    batch.terminate_job(jobId=job, reason=reason)

    def ended() -> Any:
        found = [base.job(each) for each in children]
        return found if all(each["status"] in {"SUCCEEDED", "FAILED"} for each in found) else None

    ends = [(each["status"], each.get("statusReason")) for each in live.wait("the end", ended, minutes=5)]
    assert ends == [("FAILED", reason)] * 2, f"the children ended as {ends}"


@asks("L126", decides="small", tier=1, cost=nodes(SMALL), minutes=35, needs=("L83",), nodes=1)
def rule_for_the_cgroup_of_tasks(live: Live) -> None:
    """Does a firewall rule for the cgroup of tasks keep a job in the network of its node from the metadata, and nothing else?

    Launches one instance whose user data starts `ecstasks.slice` and refuses its packets to 169.254.169.254 before the ECS agent starts. Passes when a job runs
    and writes its log, for which the agent needs the credentials of the node, and a job that asks the metadata fails with "Connection refused" in its log. Then
    the rule can be part of node-boot.sh.
    """
    base = small(live)
    rule = "iptables -w -A OUTPUT -d 169.254.169.254 -m cgroup --path ecstasks.slice -j REJECT"
    arn = queue_of_an_instance_that_joins(live, base, f"systemctl start ecstasks.slice\n{rule}\n")
    job = base.wait_for(base.submit("check", queue_arn=arn), minutes=25)
    assert "shown" in base.log(job["container"]["logStreamName"]), "the job's log is not there"
    asking = "import urllib.request; urllib.request.urlopen('http://169.254.169.254/', timeout=5)"
    command = {"command": ["python3", "-c", asking]}
    job = base.wait_for(
        base.submit("check", queue_arn=arn, containerOverrides=command), status="FAILED", minutes=5
    )
    said = base.log(job["container"]["logStreamName"])
    assert "Connection refused" in said, f"the log ends with {said[-200:]!r}"


@asks("L63", decides="small", tier=1, cost=nodes(SMALL, 2), minutes=30, needs=("L83",), checks=("UC9458",))
def multi_node_job_without_efa(live: Live) -> None:
    """Does a multi-node job run on a type without EFA, and which security group does its task get?

    Submits a job of two nodes with `without_efa: true`. Passes when both nodes run the program, and each node has one interface more than its launch template,
    with the VPC's default security group, as the Batch User Guide says of multi-node jobs.
    """
    base = small(live)
    base.wait_for(base.submit("pair"), status="RUNNING", minutes=25)
    groups = [{each["GroupName"] for each in one["Groups"]} for one in base.interfaces()]
    assert groups.count({"default"}) == 2, f"the interfaces have the groups {groups}"


@asks("L127", decides="small", tier=1, cost=CPU_HOST, minutes=20, needs=("L83",), nodes=1)
def support_check_on_a_cpu_host(live: Live) -> None:
    """Does a support check find, on a host without Neuron devices, an operator that Neuron lacks?

    Submits the support check with a model that uses the FFT, which Neuron's page about `torch_neuronx.analyze` shows as unsupported, and with one that does not.
    Passes when the first fails and its log names `aten::fft_fft`, and the second succeeds and its log ends with "compiled for trn1".
    """
    base = small(live)
    (definition,) = base.client("batch").describe_job_definitions(
        jobDefinitions=[base.one("Clustersupport")]
    )["jobDefinitions"]
    script = definition["containerProperties"]["command"][2]
    for operator, status, last in (
        ("torch.fft.fft(x)", "FAILED", "aten::fft_fft"),
        ("torch.relu(x)", "SUCCEEDED", "compiled for trn1"),
    ):
        model = f"import torch\ndef build(): return (lambda x: {operator}), torch.rand(4)\n"
        write = f"cat > model.py <<'END'\n{model}END\nexec python3 -c \"$0\" model.py build"
        job = base.submit(
            "support",
            queue_arn=definition["tags"]["ultracluster:queue"],
            containerOverrides={"command": ["bash", "-c", write, script]},
        )
        said = base.log(base.wait_for(job, status=status, minutes=15)["container"]["logStreamName"])
        assert last in said, f"the log ends with {said[-200:]!r}"


@asks("L41", decides="small", tier=1, cost=nodes(SMALL, 2), minutes=40, needs=("L83",))
def second_source(live: Live) -> None:
    """Does a multi-node job move to the second source while the first is closed?

    Disables the first environment of the queue and submits a job of one node. Passes when it runs in the second. By hand: give the queue `exceeds_environments`
    of 10 minutes, and set the second environment's maxvCpus too low for the job. If the job is not cancelled, AWS Batch counts closed environments, and UC6307
    can allow that limit before a block.
    """
    base = small(live)
    batch, first = base.client("batch"), base.one("ClusterQueueComputeEnvironment")
    batch.update_compute_environment(computeEnvironment=first, state="DISABLED")
    live.undo(lambda: batch.update_compute_environment(computeEnvironment=first, state="ENABLED"))
    live.wait("the first source is closed", lambda: base.environment()["state"] == "DISABLED", minutes=3)
    base.wait_for(base.submit("pair", nodeOverrides={"numNodes": 1}), status="RUNNING", minutes=30)
    assert base.desired("spill") > 0, "the second source wants no nodes"
    assert base.desired() == 0, "the first source, which is closed, wants nodes"
