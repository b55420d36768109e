"""Tier 2: one block of two trn2.3xlarge for a day, and what only large on-demand nodes show, each for less than an hour."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any

from tests.live.cluster import Cluster, deploy, image_id
from tests.live.costs import block, cluster, standing
from tests.live.question import live as question
from tests.live.session import Live

from ultracluster_catalog.capacity.capacity_blocks import DRAIN_BEFORE_END, TERMINATION_BEFORE_END
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES

TYPE, COUNT, REGION = "trn2.3xlarge", 2, "sa-east-1"
HOLD = """
import signal, time
signal.signal(signal.SIGUSR1, lambda *_: print("checkpoint", flush=True))
print("shown", flush=True)
while True: time.sleep(1)
"""


# The purchase


def buy(live: Live, region: str, instance_type: str, count: int) -> dict[str, Any]:
    """Buy the cheapest block of a day that costs no more than was reserved, or find the one that an interrupted run bought."""
    ec2 = live.client("ec2", region)
    filters = [{"Name": f"tag:{key}", "Values": [value]} for key, value in live.tags.items()]

    def bought() -> Any:
        found = ec2.describe_capacity_reservations(Filters=filters)["CapacityReservations"]
        return found[0] if found else None

    if live.run.journal.of(
        "sending", live.question.id
    ):  # a run that was interrupted sent it: it is never sent again
        return dict(live.wait("the reservation of the purchase that was sent", bought, minutes=30, every=30))
    asked = {"InstanceType": instance_type, "InstanceCount": count, "CapacityDurationHours": 24}
    offered = ec2.describe_capacity_block_offerings(**asked)["CapacityBlockOfferings"]
    fair = [each for each in offered if Decimal(each["UpfrontFee"]) <= live.question.cost.once]
    assert fair, (
        f"nothing is offered for {live.question.usd} USD or less: {[each['UpfrontFee'] for each in offered]}"
    )
    chosen = min(fair, key=lambda each: (Decimal(each["UpfrontFee"]), each["StartDate"]))
    ec2.purchase_capacity_block(
        CapacityBlockOfferingId=chosen["CapacityBlockOfferingId"],
        InstancePlatform="Linux/UNIX",
        TagSpecifications=live.tagged("capacity-reservation"),
    )
    found = live.wait("the reservation shows its tags", bought, minutes=30, every=10)
    live.note(fee=chosen["UpfrontFee"])
    return dict(found)


def keep_block(live: Live, found: dict[str, Any], region: str) -> None:
    live.keep(
        reservation=found["CapacityReservationId"],
        zone_id=found["AvailabilityZoneId"],
        region=region,
        start=found["StartDate"].isoformat(),
        end=found["EndDate"].isoformat(),
        stands_until=(found["EndDate"] + dt.timedelta(hours=1)).isoformat(),
    )


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


@question(
    "L31", tier=2, cost=block(TYPE, REGION, count=COUNT), minutes=35, stands=True, phase="start", buys=1
)
def test_a_purchase_carries_its_tags_at_once(live: Live) -> None:
    """Does a purchase carry its tag at once?

    Buys the cheapest block of two trn2.3xlarge for a day, if its fee is no higher than the list price that was reserved, and looks for it every ten seconds.
    Passes when a reservation with the tags of the purchase appears within the 30 minutes that a reconciliation waits. Other questions of this tier use the
    block.
    """
    found = buy(live, live.block_region, TYPE, COUNT)
    assert found["TotalInstanceCount"] in {0, COUNT}, f"{found['TotalInstanceCount']} instances"
    keep_block(live, found, live.block_region)


@question(
    "L78", tier=2, minutes=2, needs=["L31"], phase="start", checks=["UC9422", "UC9426", "UC9427", "UC9428"]
)
def test_a_block_shows_its_size_before_its_start(live: Live) -> None:
    """What does EC2 report of a block before its start?

    Calls `DescribeCapacityReservations` before the start. Passes when type, zone, start and end are there, and `TotalInstanceCount` or the tag
    `aws:ec2capacityreservation:incrementalRequestedQuantity` has the number that was bought; note both. By hand: share the reservation, and look at UC9430 from
    the other account.
    """
    ec2, found = live.client("ec2", live.of("L31")["region"]), live.of("L31")
    (shown,) = ec2.describe_capacity_reservations(CapacityReservationIds=[found["reservation"]])[
        "CapacityReservations"
    ]
    tags = {each["Key"]: each["Value"] for each in shown.get("Tags", [])}
    quantity = tags.get("aws:ec2capacityreservation:incrementalRequestedQuantity", "")
    live.note(total=shown["TotalInstanceCount"], available=shown["AvailableInstanceCount"], quantity=quantity)
    assert shown["ReservationType"] == "capacity-block"
    assert shown["InstanceType"] == TYPE
    assert COUNT in {shown["TotalInstanceCount"], int(quantity or 0)}, (
        f"neither count nor tag says {COUNT}: {shown}"
    )


# The block runs


@question(
    "L1",
    tier=2,
    cost=standing(cluster(), hours=30),
    minutes=150,
    needs=["L31"],
    stands=True,
    phase="during",
    nodes=COUNT,
)
def test_batch_launches_into_the_block(live: Live) -> None:
    """Does AWS Batch launch into the Capacity Block?

    Starts an hour before the block: deploys a cluster on the block of L31 with exported templates, waits until the block is active, and submits a job of two
    nodes. Passes when every instance has lifecycle `capacity-block` and the ID of the reservation. Any other instance costs on-demand money and is terminated
    at once. The Batch User Guide says that market options in a launch template are ignored, but AWS's own templates and blog (2025-04-29) rely on them.
    """
    found = live.of("L31")
    live.not_before(moment(found["start"]) - dt.timedelta(hours=1), "the block has not started")
    base = deploy(
        live,
        "block.yaml",
        region=found["region"],
        suffix="b",
        TYPE=TYPE,
        NODES=str(COUNT),
        ZONE_ID=found["zone_id"],
        IMAGE_ID=image_id(live, found["region"]),
        RESERVATION=found["reservation"],
        START=json.dumps(f"{moment(found['start']):%Y-%m-%dT%H:%M:%SZ}"),
        END=json.dumps(f"{moment(found['end']):%Y-%m-%dT%H:%M:%SZ}"),
        HOLD=json.dumps(HOLD),
    )
    live.keep(prepaid=True, **found)
    base.prepaid = True
    check_launch(live, base, found["reservation"])


def check_launch(live: Live, base: Cluster, reservation: str) -> None:
    """Submit a job when the block is active, and assert that its nodes run in the block."""
    ec2 = base.client("ec2")

    def active() -> bool:
        (shown,) = ec2.describe_capacity_reservations(CapacityReservationIds=[reservation])[
            "CapacityReservations"
        ]
        return bool(shown["State"] == "active")

    live.wait("the block is active", active, minutes=90, every=60)
    live.wait(
        "the environment is open", lambda: base.environment()["state"] == "ENABLED", minutes=10, every=20
    )
    base.wait_for(base.submit("hold"), status="RUNNING", minutes=30)
    launched = base.nodes()
    wrong = [
        each["InstanceId"]
        for each in launched
        if each.get("InstanceLifecycle") != "capacity-block"
        or each.get("CapacityReservationId") != reservation
    ]
    if wrong:
        ec2.terminate_instances(InstanceIds=wrong)
    assert not wrong, f"nodes outside of the block: {wrong}"
    assert launched, "no node was launched"
    live.note(nodes=len(launched))


def held(live: Live) -> tuple[Cluster, dict[str, Any]]:
    """Return the cluster in the block and a running job on all its nodes."""
    base = Cluster(live, live.of("L1"))
    return base, base.wait_for(base.submit("hold"), status="RUNNING", minutes=20)


@question("L2", tier=2, minutes=25, needs=["L1"], phase="during")
def test_the_task_gets_an_interface_of_its_own(live: Live) -> None:
    """Does the multi-node task get its interface with the `batch` layout?

    Card 0 has room for two interfaces. In the `batch` layout the first is the node's EFA interface, and ECS needs the second. Passes when each node of a
    running job has one interface more than its launch template. If the job waits in STARTING instead, note the layout.
    """
    base, _ = held(live)
    ids = [each["InstanceId"] for each in base.nodes()]
    ours = len(base.template_data()["NetworkInterfaces"])
    shown = base.client("ec2").describe_network_interfaces(
        Filters=[{"Name": "attachment.instance-id", "Values": ids}]
    )["NetworkInterfaces"]
    assert len(shown) == len(ids) * (ours + 1), (
        f"{len(shown)} interfaces on {len(ids)} nodes with {ours} of ours"
    )


@question("L3", tier=2, minutes=25, needs=["L1"], phase="during")
def test_a_node_finds_its_devices_and_mounts(live: Live) -> None:
    """Does a node find its devices, mount the file system and join?

    Reads `/var/log/ultracluster-boot.log` on a node with Run Command. Passes when it lists all Neuron and EFA devices and `file system mounted at /fsx`, and
    ends in `ready`.
    """
    base, _ = held(live)
    log = base.live.on_node(
        base.nodes()[0]["InstanceId"], "cat /var/log/ultracluster-boot.log", region=base.region
    )
    known = INSTANCE_TYPES[TYPE]
    for line in (
        f"{known.chips} of {known.chips} Neuron",
        f"{known.efa_interfaces} of {known.efa_interfaces} EFA",
        "mounted at /fsx",
    ):
        assert line in log, f"the boot log has no {line!r}"
    assert "ready" in log.splitlines()[-1], f"the boot log ends with {log.splitlines()[-1]!r}"


@question("L5", tier=2, minutes=25, needs=["L1"], phase="during")
def test_a_node_registers_the_memory_that_jobs_ask_for(live: Live) -> None:
    """How much memory does a trn2 node register?

    Calls `DescribeContainerInstances` while a job runs. Passes when each node registers at least the memory that jobs request, which the
    catalogue estimates at 0.96 of the instance. Record
    the measured number with its date in the family's module in `ultracluster_catalog/machines/`.
    """
    base, _ = held(live)
    ecs, name = base.client("ecs"), base.environment()["ecsClusterArn"]
    arns = ecs.list_container_instances(cluster=name)["containerInstanceArns"]
    shown = ecs.describe_container_instances(cluster=name, containerInstances=arns)["containerInstances"]
    memory = [
        each["integerValue"]
        for one in shown
        for each in one["registeredResources"]
        if each["name"] == "MEMORY"
    ]
    live.note(registered_mib=memory)
    assert memory, "no node is registered"
    wanted = int(INSTANCE_TYPES[TYPE].memory_mib * 0.96)
    assert min(memory) >= wanted, f"a node registers {min(memory)} MiB, jobs ask for {wanted}"


@question("L9", tier=2, minutes=25, needs=["L1"], phase="during")
def test_the_checkpoint_signal_reaches_the_processes(live: Live) -> None:
    """Does the checkpoint signal reach the training processes?

    Runs a job that handles SIGUSR1. With Run Command it then writes to `/run/ultracluster/checkpoint` the order that the life cycle writes an hour before the
    end. Passes when the command succeeds, the job's log has the handler's output, and the job continues. By hand: check that the function's role can send the
    order, but not to an instance without the tag `ultracluster:capacity-reservation`.
    """
    base, job = held(live)
    order = "date -u -d +1hour +%Y-%m-%dT%H:%M:%SZ >/run/ultracluster/checkpoint"
    for each in base.nodes():
        base.live.on_node(each["InstanceId"], order, region=base.region)
    streams = base.client("logs").describe_log_streams(logGroupName=base.one("ClusterQueueLogs"))[
        "logStreams"
    ]
    mine = [each["logStreamName"] for each in streams] or [""]
    live.wait(
        "the handler prints", lambda: any("checkpoint" in base.log(job, name) for name in mine), minutes=5
    )
    assert base.job(job["jobId"])["status"] == "RUNNING", "the job ended"


@question("L11", tier=2, minutes=20, needs=["L1"], phase="during")
def test_a_deployment_during_the_block_leaves_the_environment_open(live: Live) -> None:
    """Does a deployment during the block change the environment's state?

    Updates the stack with another tag on the queue's log group, and reads the function's log. Passes when the update completes, the environment is still
    ENABLED, and the log has no later `SetEnvironment(enabled=False)`. By hand, after the drain: if the log then has another `SetEnvironment(enabled=False)`, CloudFormation had opened the environment
    for up to a minute.
    """
    base = Cluster(live, live.of("L1"))
    stacks, stack = base.client("cloudformation"), f"live-{live.run.id}b-cluster"
    shown = stacks.describe_stacks(StackName=stack)["Stacks"][0]
    text = json.dumps(stacks.get_template(StackName=stack, TemplateStage="Original")["TemplateBody"])
    body = json.loads(text)
    body = json.loads(body) if isinstance(body, str) else body
    logs = body["Resources"]["ClusterQueueLogsDCCFBD6F"]["Properties"]
    logs["RetentionInDays"] = 5 if logs.get("RetentionInDays") == 3 else 3
    bucket = live.of("L1")["bucket"]
    base.client("s3").put_object(Bucket=bucket, Key="changed.json", Body=json.dumps(body).encode())
    where = live.run.where.endpoint
    url = f"{where}/{bucket}" if where else f"https://{bucket}.s3.{base.region}.amazonaws.com"
    stacks.update_stack(
        StackName=stack,
        TemplateURL=f"{url}/changed.json",
        Parameters=[
            {"ParameterKey": each["ParameterKey"], "UsePreviousValue": True}
            for each in shown.get("Parameters", [])
        ],
        Capabilities=["CAPABILITY_NAMED_IAM"],
        Tags=shown["Tags"],
    )

    def updated() -> str:
        status = str(stacks.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"])
        return "" if status.endswith("IN_PROGRESS") else status

    assert live.wait("the update", updated, minutes=12) == "UPDATE_COMPLETE"
    assert base.environment()["state"] == "ENABLED", "the environment is closed after the update"


@question(
    "L10",
    tier=2,
    minutes=75,
    needs=["L1"],
    phase="after",
)
def test_a_drain_ends_the_jobs_and_batch_takes_the_nodes(live: Live) -> None:
    """Does a drain end the jobs, and do the nodes stop before EC2 reclaims them?

    From an hour before the end, with one job running and one waiting, waits for the drain. Passes when the first job is FAILED with a reason that begins with
    `ultracluster: Capacity Block`, the second is RUNNABLE, the environment is DISABLED, and no node runs 30 minutes before the end. Note when the last instance
    was gone, and which principal terminated it (CloudTrail, TerminateInstances).
    """
    found, base = live.of("L1"), Cluster(live, live.of("L1"))
    (shown,) = base.client("ec2").describe_capacity_reservations(
        CapacityReservationIds=[found["reservation"]]
    )["CapacityReservations"]
    end = shown["EndDate"]
    live.not_before(end - dt.timedelta(minutes=60), "the block does not end yet")
    running, waiting = base.submit("hold"), base.submit("hold")
    base.wait_for(running, status="RUNNING", minutes=15)
    live.sleep_until(end - DRAIN_BEFORE_END)
    live.sleep_until(end - TERMINATION_BEFORE_END - dt.timedelta(minutes=1))
    job = live.wait(
        "the job ends",
        lambda: base.job(running)["status"] == "FAILED" and base.job(running),
        minutes=50,
        every=30,
    )
    assert str(job.get("statusReason", "")).startswith("ultracluster: Capacity Block"), job.get(
        "statusReason"
    )
    assert base.job(waiting)["status"] in {"SUBMITTED", "PENDING", "RUNNABLE"}, base.job(waiting)["status"]
    assert base.environment()["state"] == "DISABLED", "the environment is open"


# Large nodes on demand, before the block: the net then still ends each of them within minutes


def online(live: Live, instance: str) -> None:
    filters = [{"Key": "InstanceIds", "Values": [instance]}]
    ssm = live.client("ssm")
    live.wait(
        "the node is online",
        lambda: ssm.describe_instance_information(Filters=filters)["InstanceInformationList"],
        minutes=12,
    )
