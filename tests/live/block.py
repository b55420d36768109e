"""Tiers 2 and 3: a block of two trn2.3xlarge for a day, and one of two trn2.48xlarge with sixteen EFA interfaces each."""

import datetime as dt
import json
import re
from decimal import Decimal
from typing import Any

from tests.live.cluster import Cluster, deploy, image_id
from tests.live.costs import block, cluster
from tests.live.question import asks
from tests.live.session import Live

from ultracluster_catalog.capacity.capacity_blocks import TERMINATION_BEFORE_END
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES

COUNT = 2
SMALL, SMALL_REGION = "trn2.3xlarge", "sa-east-1"
LARGE, LARGE_REGION = "trn2.48xlarge", "us-east-2"
CARD_GB_PER_S = 25.0
HOLD = """
import signal, time
signal.signal(signal.SIGUSR1, lambda *_: print("checkpoint", flush=True))
print("shown", flush=True)
while True: time.sleep(1)
"""


def buy(live: Live, region: str, instance_type: str) -> None:
    """Buy the cheapest block of a day that costs no more than was reserved, or find the one that an interrupted run bought; keep it."""
    ec2 = live.client("ec2", region)
    filters = [{"Name": f"tag:{key}", "Values": [value]} for key, value in live.tags.items()]
    if not live.run.journal.of(
        "sending", live.question.id
    ):  # what an interrupted run sent is never sent again
        offered = ec2.describe_capacity_block_offerings(
            InstanceType=instance_type, InstanceCount=COUNT, CapacityDurationHours=24
        )["CapacityBlockOfferings"]
        fees = [each["UpfrontFee"] for each in offered]
        fair = [each for each in offered if Decimal(each["UpfrontFee"]) <= live.question.cost.once]
        assert fair, f"nothing is offered for {live.question.usd} USD or less: {fees}"
        chosen = min(fair, key=lambda each: (Decimal(each["UpfrontFee"]), each["StartDate"]))
        ec2.purchase_capacity_block(
            CapacityBlockOfferingId=chosen["CapacityBlockOfferingId"],
            InstancePlatform="Linux/UNIX",
            TagSpecifications=live.tagged("capacity-reservation"),
        )
        live.note(fee=chosen["UpfrontFee"])

    def bought() -> Any:
        return ec2.describe_capacity_reservations(Filters=filters)["CapacityReservations"]

    (found,) = live.wait("the reservation shows its tags", bought, minutes=30, every=10)
    assert found["TotalInstanceCount"] in {0, COUNT}, f"{found['TotalInstanceCount']} instances"
    live.keep(
        reservation=found["CapacityReservationId"],
        zone_id=found["AvailabilityZoneId"],
        region=region,
        start=found["StartDate"].isoformat(),
        end=found["EndDate"].isoformat(),
    )


def reservation(live: Live, found: dict[str, Any]) -> dict[str, Any]:
    """Describe a block."""
    shown = live.client("ec2", found["region"]).describe_capacity_reservations(
        CapacityReservationIds=[found["reservation"]]
    )
    return dict(shown["CapacityReservations"][0])


def launch(live: Live, found: dict[str, Any], instance_type: str, suffix: str) -> Cluster:
    """Deploy a cluster on a block, submit a job when the block is active, and assert that its nodes run in the block."""
    start, end = (dt.datetime.fromisoformat(found[name]) for name in ("start", "end"))
    base = deploy(
        live,
        "block.yaml",
        region=found["region"],
        suffix=suffix,
        TYPE=instance_type,
        NODES=str(COUNT),
        ZONE_ID=found["zone_id"],
        IMAGE_ID=image_id(live, found["region"]),
        RESERVATION=found["reservation"],
        START=json.dumps(f"{start:%Y-%m-%dT%H:%M:%SZ}"),
        END=json.dumps(f"{end:%Y-%m-%dT%H:%M:%SZ}"),
        HOLD=json.dumps(HOLD),
    )
    live.keep(**found)
    base.found |= found
    live.wait(
        "the block is active", lambda: reservation(live, found)["State"] == "active", minutes=90, every=60
    )
    live.wait("the environment is open", lambda: base.environment()["state"] == "ENABLED", minutes=10)
    base.wait_for(base.submit("hold"), status="RUNNING", minutes=30)
    launched = base.nodes()
    wrong = [
        each["InstanceId"]
        for each in launched
        if each.get("InstanceLifecycle") != "capacity-block"
        or each.get("CapacityReservationId") != found["reservation"]
    ]
    if wrong:
        base.client("ec2").terminate_instances(InstanceIds=wrong)
    assert not wrong, f"nodes outside of the block: {wrong}"
    assert len(launched) == COUNT, f"{len(launched)} nodes"
    return base


def on_node(base: Cluster, instance: str, command: str) -> str:
    """Run a command on a node by Session Manager's Run Command, and return what it prints."""
    ssm = base.client("ssm")
    sent = ssm.send_command(
        DocumentName="AWS-RunShellScript", InstanceIds=[instance], Parameters={"commands": [command]}
    )["Command"]["CommandId"]

    def ended() -> Any:
        found = ssm.get_command_invocation(CommandId=sent, InstanceId=instance)
        return found if found["Status"] not in {"Pending", "InProgress", "Delayed"} else None

    found = base.live.wait("the command on the node", ended, minutes=5, every=5)
    assert found["Status"] == "Success", f"{command}: {found['Status']}: {found['StandardErrorContent']}"
    return str(found["StandardOutputContent"])


def check_boot(base: Cluster, instance_type: str) -> None:
    """Assert that a node found its devices, mounted the file system and joined."""
    log = on_node(base, base.nodes()[0]["InstanceId"], "cat /var/log/ultracluster-boot.log")
    known = INSTANCE_TYPES[instance_type]
    efa, chips = known.efa_interfaces, known.chips
    for line in (f"{chips} of {chips} Neuron", f"{efa} of {efa} EFA", "mounted at /fsx"):
        assert line in log, f"the boot log has no {line!r}"
    assert "ready" in log.splitlines()[-1], f"the boot log ends with {log.splitlines()[-1]!r}"


def held(live: Live) -> tuple[Cluster, dict[str, Any]]:
    """Return the cluster of L1 and a running job on all its nodes."""
    base = Cluster(live, live.of("L1"))
    return base, base.wait_for(base.submit("hold"), status="RUNNING", minutes=20)


@asks(
    "L31",
    decides="buying",
    tier=2,
    cost=block(SMALL, SMALL_REGION, count=COUNT),
    minutes=35,
    stands=True,
    buys=1,
)
def tags_of_a_purchase(live: Live) -> None:
    """Does a purchase carry its tag at once?

    Buys the cheapest block of two trn2.3xlarge for a day, if its fee is no higher than the list price that was reserved, and looks for it every ten seconds.
    Passes when a reservation with the tags of the purchase appears within the 30 minutes that a reconciliation waits. Other questions of this tier use the
    block.
    """
    buy(live, live.block_region, SMALL)


@asks(
    "L78",
    decides="buying",
    tier=2,
    minutes=2,
    needs=("L31",),
    checks=("UC9422", "UC9426", "UC9427", "UC9428"),
)
def block_before_its_start(live: Live) -> None:
    """What does EC2 report of a block before its start?

    Calls `DescribeCapacityReservations` before the start. Passes when type, zone, start and end are there, and `TotalInstanceCount` or the tag
    `aws:ec2capacityreservation:incrementalRequestedQuantity` has the number that was bought; note both. By hand: share the reservation, and look at UC9430 from
    the other account.
    """
    shown = reservation(live, live.of("L31"))
    tags = {each["Key"]: each["Value"] for each in shown.get("Tags", [])}
    quantity = tags.get("aws:ec2capacityreservation:incrementalRequestedQuantity", "")
    live.note(total=shown["TotalInstanceCount"], available=shown["AvailableInstanceCount"], quantity=quantity)
    said = (shown["ReservationType"], shown["InstanceType"])
    assert said == ("capacity-block", SMALL), f"the block is {said}"
    assert COUNT in {shown["TotalInstanceCount"], int(quantity or 0)}, (
        f"neither count nor tag says {COUNT}: {shown}"
    )


@asks(
    "L1",
    decides="batch",
    tier=2,
    cost=cluster(hours=30),
    minutes=150,
    needs=("L31",),
    opens="start",
    stands=True,
)
def batch_into_the_block(live: Live) -> None:
    """Does AWS Batch launch into the Capacity Block?

    Starts an hour before the block: deploys a cluster on the block of L31 with exported templates, waits until the block is active, and submits a job of two
    nodes. Passes when every instance has lifecycle `capacity-block` and the ID of the reservation. Any other instance costs on-demand money and is terminated
    at once. The Batch User Guide says that market options in a launch template are ignored, but AWS's own templates and blog (2025-04-29) rely on them.
    """
    launch(live, live.of("L31"), SMALL, "b")


@asks("L2", decides="batch", tier=2, minutes=25, needs=("L1",))
def interface_of_the_task(live: Live) -> None:
    """Does the multi-node task get its interface with the `batch` layout?

    Card 0 has room for two interfaces. In the `batch` layout the first is the node's EFA interface, and ECS needs the second. Passes when each node of a
    running job has one interface more than its launch template. If the job waits in STARTING instead, note the layout.
    """
    base, _ = held(live)
    ours, shown = len(base.template_data()["NetworkInterfaces"]), len(base.interfaces())
    assert shown == COUNT * (ours + 1), f"{shown} interfaces on {COUNT} nodes with {ours} of ours"


@asks("L3", decides="batch", tier=2, minutes=25, needs=("L1",))
def boot_of_a_node(live: Live) -> None:
    """Does a node find its devices, mount the file system and join?

    Reads `/var/log/ultracluster-boot.log` on a node with Run Command. Passes when it lists all Neuron and EFA devices and `file system mounted at /fsx`, and
    ends in `ready`.
    """
    check_boot(held(live)[0], SMALL)


@asks("L5", decides="batch", tier=2, minutes=25, needs=("L1",))
def memory_of_a_node(live: Live) -> None:
    """How much memory does a trn2 node register?

    Calls `DescribeContainerInstances` while a job runs. Passes when each node registers at least the memory that jobs request, which the catalogue estimates at
    0.96 of the instance. Record the measured number with its date in the family's module in `ultracluster_catalog/machines/`.
    """
    base, _ = held(live)
    ecs, name = base.client("ecs"), base.environment()["ecsClusterArn"]
    arns = ecs.list_container_instances(cluster=name)["containerInstanceArns"]
    shown = ecs.describe_container_instances(cluster=name, containerInstances=arns)["containerInstances"]
    resources = [each for one in shown for each in one["registeredResources"]]
    memory = [each["integerValue"] for each in resources if each["name"] == "MEMORY"]
    live.note(registered_mib=memory)
    assert memory, "no node is registered"
    wanted = int(INSTANCE_TYPES[SMALL].memory_mib * 0.96)
    assert min(memory) >= wanted, f"a node registers {min(memory)} MiB, jobs ask for {wanted}"


@asks("L9", decides="small", tier=2, minutes=25, needs=("L1",))
def checkpoint_signal(live: Live) -> None:
    """Does the checkpoint signal reach the training processes?

    Runs a job that handles SIGUSR1. With Run Command it then writes to `/run/ultracluster/checkpoint` the order that the life cycle writes an hour before the
    end. Passes when the command succeeds, the job's log has the handler's output, and the job continues. By hand: check that the function's role can send the
    order, but not to an instance without the tag `ultracluster:capacity-reservation`.
    """
    base, job = held(live)
    order = "date -u -d +1hour +%Y-%m-%dT%H:%M:%SZ >/run/ultracluster/checkpoint"
    for each in base.nodes():
        on_node(base, each["InstanceId"], order)
    streams = base.client("logs").describe_log_streams(logGroupName=base.one("ClusterQueueLogs"))[
        "logStreams"
    ]
    names = [each["logStreamName"] for each in streams]
    live.wait("the handler prints", lambda: any("checkpoint" in base.log(name) for name in names), minutes=5)
    assert base.job(job["jobId"])["status"] == "RUNNING", "the job ended"


@asks("L11", decides="batch", tier=2, minutes=20, needs=("L1",))
def deployment_during_the_block(live: Live) -> None:
    """Does a deployment during the block change the environment's state?

    Updates the stack with another retention of the queue's log group. Passes when the update completes and the environment is still ENABLED. By hand, after the
    drain: if the function's log then has another `SetEnvironment(enabled=False)`, CloudFormation had opened the environment for up to a minute.
    """
    base = Cluster(live, live.of("L1"))
    body = json.loads(base.client("s3").get_object(Bucket=base.bucket, Key="cluster.json")["Body"].read())
    logs = body["Resources"][base.logical_id("ClusterQueueLogs")]["Properties"]
    logs["RetentionInDays"] = 5 if logs.get("RetentionInDays") == 3 else 3
    base.put_stack("cluster", json.dumps(body))
    assert base.environment()["state"] == "ENABLED", "the environment is closed after the update"


@asks("L128", decides="batch", tier=2, minutes=75, needs=("L1",))
def sick_node(live: Live) -> None:
    """Is a sick node drained, and does another one come in its place in the block?

    Writes a fault to the kernel log of a node, as the runtime of Neuron does, while a job without `resume` runs on it. Passes when ECS shows the node as DRAINING
    and the job goes on, and when, after the job was ended, the node is terminated and the next job runs in the same reservation without it.
    `sick_nodes: replace` stays a choice until this has passed.
    """
    base, job = held(live)
    sick = base.nodes()[0]["InstanceId"]
    on_node(base, sick, "echo NEURON_HW_ERR=DMA_ERROR nd-id=0 nc-id=0 action=TERMINATE_INSTANCE >/dev/kmsg")
    ecs, name = base.client("ecs"), base.environment()["ecsClusterArn"]

    def drained() -> bool:
        arns = ecs.list_container_instances(cluster=name, status="DRAINING")["containerInstanceArns"]
        shown = ecs.describe_container_instances(cluster=name, containerInstances=arns) if arns else {}
        return sick in [each["ec2InstanceId"] for each in shown.get("containerInstances", ())]

    live.wait("the node is drained", drained, minutes=10)
    live.sleep_until(dt.datetime.now(dt.UTC) + dt.timedelta(minutes=5))
    assert base.job(job["jobId"])["status"] == "RUNNING", "the job ended"
    base.client("batch").terminate_job(jobId=job["jobId"], reason="live question: a sick node")
    live.wait("the node ends", lambda: sick not in [each["InstanceId"] for each in base.nodes()], minutes=15)
    base.wait_for(base.submit("hold"), status="RUNNING", minutes=40)
    wanted = reservation(live, base.found)["CapacityReservationId"]
    found = {each["InstanceId"]: each.get("CapacityReservationId") for each in base.nodes()}
    assert sick not in found, "the next job runs on the sick node"
    assert set(found.values()) == {wanted}, f"nodes run in {found}"


@asks("L10", decides="batch", tier=2, minutes=75, needs=("L1",), opens="end")
def drain(live: Live) -> None:
    """Does a drain end the jobs, and do the nodes stop before EC2 reclaims them?

    From an hour before the end, with one job running and one waiting, waits for the drain. Passes when the first job is FAILED with a reason that begins with
    `ultracluster: Capacity Block`, the second is RUNNABLE, the environment is DISABLED, and no node runs 30 minutes before the end. Note when the last instance
    was gone, and which principal terminated it (CloudTrail, TerminateInstances).
    """
    base = Cluster(live, live.of("L1"))
    end = reservation(live, base.found)["EndDate"]
    running, waiting = base.submit("hold"), base.submit("hold")
    base.wait_for(running, status="RUNNING", minutes=15)
    live.sleep_until(end - TERMINATION_BEFORE_END - dt.timedelta(minutes=1))
    job = base.wait_for(running, status="FAILED", minutes=10)
    reason = str(job.get("statusReason", ""))
    assert reason.startswith("ultracluster: Capacity Block"), f"the job ended because: {reason}"
    status = base.job(waiting)["status"]
    assert status in {"SUBMITTED", "PENDING", "RUNNABLE"}, f"the waiting job is {status}"
    assert base.environment()["state"] == "DISABLED", "the environment is open"
    live.wait("no node runs", lambda: not base.nodes(), minutes=1, every=10)


@asks(
    "L118",
    decides="large",
    tier=3,
    cost=block(LARGE, LARGE_REGION, count=COUNT),
    minutes=35,
    stands=True,
    buys=1,
)
def block_of_large_nodes(live: Live) -> None:
    """Does a purchase of two trn2.48xlarge carry its tags?

    Repeats L31 with two trn2.48xlarge in us-east-2. Other questions of this tier use the block.
    """
    buy(live, LARGE_REGION, LARGE)


@asks(
    "L119",
    decides="large",
    tier=3,
    cost=cluster(hours=30),
    minutes=150,
    needs=("L118",),
    opens="start",
    stands=True,
)
def nodes_with_sixteen_interfaces(live: Live) -> None:
    """Do nodes with sixteen EFA interfaces start in the block, join and run a job?

    Repeats L1 and L3 with two trn2.48xlarge: both nodes run in the block, and the boot log has all sixteen Neuron devices and all EFA devices.
    """
    check_boot(launch(live, live.of("L118"), LARGE, "c"), LARGE)


@asks("L7", decides="large", tier=3, minutes=60, needs=("L119",))
def collectives_over_efa(live: Live) -> None:
    """Does collective traffic use EFA, and how fast is it?

    Runs the fabric gate, and with it nccom-test, on two nodes. Passes when it reports more bandwidth than one card of 200 Gbit/s can carry, which TCP cannot
    reach. Note bandwidth and latency with the date. By hand: `fi_info -p efa` in a job lists one provider for each device, and with `FI_PROVIDER=tcp`,
    `TcpFallback` goes off within eight minutes.
    """
    base = Cluster(live, live.of("L119"))
    job = base.wait_for(base.submit("gatedfabric"), minutes=55)
    log = base.log(job["container"]["logStreamName"])
    assert "fabric gate: passed" in log, f"the log ends with {log[-200:]!r}"
    figures = [float(each) for each in re.findall(r"([0-9.]+) GB/s", log)]
    live.note(gb_per_s=figures)
    assert figures, "the log names no bandwidth"
    assert max(figures) > CARD_GB_PER_S, f"{max(figures)} GB/s is what one card carries"
