"""Tier 2: one block of two trn2.3xlarge for a day, and what only large on-demand nodes show, each for less than an hour."""

import datetime as dt
import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from botocore.exceptions import ClientError
from tests.live.cluster import Cluster, deploy, image_id
from tests.live.costs import block, cluster, nodes, standing
from tests.live.janitor import RUN_TAG
from tests.live.policies import check_policy
from tests.live.question import live as question
from tests.live.session import Live
from tests.live.test_1_small import assume

from ultracluster_catalog.capacity.capacity_blocks import DRAIN_BEFORE_END, TERMINATION_BEFORE_END
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES

TYPE, COUNT, REGION = "trn2.3xlarge", 2, "sa-east-1"
LARGE = "trn1.32xlarge"
MOST_SECONDS = 20.0
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


@question("L32", tier=2, minutes=2, needs=["L31"], phase="start")
def test_a_new_reservation_shows_within_minutes(live: Live) -> None:
    """How soon does a new reservation appear in DescribeCapacityReservations?

    Reads how long L31 waited. Passes when it was less than the 30 minutes after which a reconciliation reports `UNKNOWN`.
    """
    (ended,) = [each for each in live.run.journal.of("end", "L31") if each["verdict"] == "shown"][-1:]
    waited = [
        value for key, value in ended["facts"].items() if key.startswith("minutes until the reservation")
    ]
    assert waited, "L31 did not say how long it waited"
    live.note(minutes=waited[0])
    ec2 = live.client("ec2", live.of("L31")["region"])
    found = ec2.describe_capacity_reservations(CapacityReservationIds=[live.of("L31")["reservation"]])
    assert found["CapacityReservations"][0]["State"] in {"payment-pending", "scheduled", "active"}


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


@question("L114", tier=2, minutes=2, needs=["L31"], phase="start")
def test_offers_of_an_extension_keep_their_ids(live: Live) -> None:
    """Does an extension offering keep its ID between two requests?

    Calls `DescribeCapacityBlockExtensionOfferings` twice, a minute apart. Passes when an offering of the same length and fee has the same ID. Otherwise
    `capacity` must approve length and fee instead of an ID.
    """
    found = live.of("L31")
    ec2 = live.client("ec2", found["region"])

    def offers() -> dict[str, str]:
        answer = ec2.describe_capacity_block_extension_offerings(
            CapacityReservationId=found["reservation"], CapacityBlockExtensionDurationHours=24
        )["CapacityBlockExtensionOfferings"]
        return {each["UpfrontFee"]: each["CapacityBlockExtensionOfferingId"] for each in answer}

    first = offers()
    assert first, "no extension is offered"
    live.run.where.sleep(60)
    second = offers()
    changed = [fee for fee in first if fee in second and first[fee] != second[fee]]
    assert not changed, f"another ID for the same offer: {changed}"


@question("L22", tier=2, minutes=5, needs=["L31"], phase="start")
def test_an_extension_of_what_is_not_ours_is_refused(live: Live) -> None:
    """Does AWS refuse the extension of a block without the tag?

    Sends dry runs of an extension by a role that may extend only what carries `uc:po`, which the block of L31 does not. Passes when EC2 answers
    `UnauthorizedOperation`, and `DryRunOperation` to a role that may extend what carries the tag of the run. By hand: repeat in a Region that the role does not
    name, and expect `UnauthorizedOperation`.
    """
    found = live.of("L31")
    plain = live.client("ec2", found["region"])
    offered = plain.describe_capacity_block_extension_offerings(
        CapacityReservationId=found["reservation"], CapacityBlockExtensionDurationHours=24
    )["CapacityBlockExtensionOfferings"]
    assert offered, "no extension is offered"
    codes = []
    for key in ("uc:po", RUN_TAG):
        condition = {"Null": {f"aws:ResourceTag/{key}": "false"}}
        ec2 = assume(
            live,
            {"Action": "ec2:PurchaseCapacityBlockExtension", "Condition": condition},
            suffix=key.rpartition(":")[2],
        )
        try:
            ec2.purchase_capacity_block_extension(
                CapacityReservationId=found["reservation"],
                CapacityBlockExtensionOfferingId=offered[0]["CapacityBlockExtensionOfferingId"],
                DryRun=True,
            )
        except ClientError as error:
            codes.append(error.response["Error"]["Code"])
    assert codes == ["UnauthorizedOperation", "DryRunOperation"], f"answered by {codes}"


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


@question("L55", tier=2, minutes=50, needs=["L1"], phase="during", nodes=1)
def test_a_lost_child_ends_the_job_and_it_starts_again(live: Live) -> None:
    """Which status reason does a multi-node job get when the host of a child, or of the main node, is lost?

    Terminates the host of node 1 of a job with `attempts: 3`. Passes when the first attempt ended with exit code 112 of the main node, and the job runs again;
    note each `statusReason`. By hand: repeat with node 0, whose reason begins with `Host EC2`.
    """
    base, job = held(live)
    child = base.nodes()[-1]["InstanceId"]
    base.client("ec2").terminate_instances(InstanceIds=[child])
    shown = live.wait(
        "a second attempt", lambda: base.job(job["jobId"])["attempts"] and base.job(job["jobId"]), minutes=40
    )
    first = shown["attempts"][0]
    live.note(reason=first.get("statusReason", ""), exit_code=first["container"].get("exitCode"))
    assert first["container"].get("exitCode") == 112, (
        f"the main node ended with {first['container'].get('exitCode')}"
    )
    assert shown["status"] != "FAILED", shown.get("statusReason")


@question("L56", tier=2, minutes=45, needs=["L1"], phase="during")
def test_the_fabric_gate_measures_without_ssh(live: Live) -> None:
    """Does the fabric gate run nccom-test on all nodes without SSH, and what does it measure?

    Submits the gate of a job on both nodes. Passes when the log of the main node ends with `fabric gate: passed` and names a bandwidth; note it with date and
    type in docs/concepts/training.md. By hand: a `min_bandwidth` above it must fail the gate, and the paid job must not start.
    """
    base = Cluster(live, live.of("L1"))
    job = base.wait_for(base.submit("gatedfabric"), minutes=40)
    log = base.log(job)
    assert "fabric gate: passed" in log, f"the log ends with {log[-200:]!r}"
    figures = re.findall(r"[0-9.]+ GB/s", log)
    live.note(bandwidth=figures[-1:])
    assert figures, "the log names no bandwidth"


@question("L61", tier=2, minutes=25, needs=["L1"], phase="during")
def test_scratch_is_mounted(live: Live) -> None:
    """Is scratch joined and mounted on the ECS Neuron AMI?

    Runs `df` on `/scratch` on a node. Passes when its size is that of the type's instance store. L64 covers a trn1.32xlarge, which has four disks to join.
    """
    base, _ = held(live)
    shown = base.live.on_node(
        base.nodes()[0]["InstanceId"],
        "df --block-size=1G --output=size /scratch | tail -1",
        region=base.region,
    )
    live.note(gb=shown.strip())
    assert int(shown.split()[0]) > 400, f"/scratch has {shown.strip()} GB"


@question("L46", tier=2, minutes=30, needs=["L1"], phase="during")
def test_a_node_gets_its_share_of_the_file_system(live: Live) -> None:
    """How much throughput does one node get from a file system?

    Writes 8 GiB to the file system of the cluster with 16 writers on one node. Passes when the rate is above 100 MB/s and at most 625 MB/s for each object
    server; 1,200 GiB of SCRATCH_2 have one. Note MB/s and `node_mb_per_s` from `ultracluster validate --json`. By hand: repeat on all nodes at the same time.
    """
    base, _ = held(live)
    write = (
        "mkdir -p /fsx/l46; s=$(date +%s%N); for n in $(seq 16); do dd if=/dev/zero of=/fsx/l46/$n bs=1M count=512 oflag=direct 2>/dev/null & done; "
        "wait; e=$(date +%s%N); echo $((8192*1048576/((e-s)/1000)))"
    )
    shown = base.live.on_node(base.nodes()[0]["InstanceId"], write, region=base.region, minutes=10)
    rate = int(shown.split()[-1])
    live.note(mb_per_s=rate)
    assert 100 <= rate <= 700, f"{rate} MB/s"


@question("L86", tier=2, minutes=25, needs=["L1"], phase="during")
def test_counters_are_where_the_service_reads_them(live: Live) -> None:
    """Are the counters of neuron-monitor, EFA and Lustre where the service reads them?

    Looks, on a node with a running job, at the files and commands that the metrics service reads. Passes when each returns counters. By hand: compare one log
    event with `neuron-top`; note whether `mem_ecc_uncorrected` only grows.
    """
    base, _ = held(live)
    look = (
        "command -v neuron-monitor /opt/aws/neuron/bin/neuron-monitor | head -1; ls /sys/class/infiniband/*/ports/1/hw_counters | head -3; "
        "lctl get_param -n llite.*.stats | head -3"
    )
    shown = base.live.on_node(base.nodes()[0]["InstanceId"], look, region=base.region)
    missing = [word for word in ("neuron-monitor", "bytes", "snapshot_time") if word not in shown]
    assert not missing, f"not found: {missing} in {shown!r}"


@question("L88", tier=2, minutes=10, needs=["L1"], phase="during")
def test_alarms_are_quiet_while_a_job_runs(live: Live) -> None:
    """How late do alarms go off, and do they stay off in a clean run?

    Calls `DescribeAlarms` for the cluster with the block and a job. Passes when no alarm other than `Unused`, `Idle` and `DrainComing` is in ALARM. By hand:
    leave the block without a job for half an hour, and note when `Unused` or `Idle` goes off.
    """
    base, _ = held(live)
    names = [value for key, value in base.resources.items() if key.startswith("ClusterAlarms")]
    shown = base.client("cloudwatch").describe_alarms(AlarmNames=names, StateValue="ALARM")["MetricAlarms"]
    loud = [
        each["AlarmName"]
        for each in shown
        if not any(quiet in each["AlarmName"] for quiet in ("Unused", "Idle", "DrainComing"))
    ]
    assert loud == [], f"in ALARM: {loud}"


@question("L13", tier=2, minutes=5, needs=["L1"], phase="during")
def test_wake_ups_are_short_and_the_alarm_is_quiet(live: Live) -> None:
    """How long does a run of the life cycle take, and does its alarm stay off?

    Reads the REPORT lines of the life cycle's function. Passes when no run takes more than 20 seconds and its alarm is not in ALARM. Note duration, memory and
    cold starts.
    """
    base = Cluster(live, live.of("L1"))
    events = base.client("logs").filter_log_events(
        logGroupName=base.one("ClusterBlockLifecycleLogs"), filterPattern="REPORT", limit=200
    )["events"]
    seconds = [
        float(found[1]) / 1000
        for each in events
        if (found := re.search(r"Duration: ([0-9.]+) ms", each["message"]))
    ]
    assert seconds, "the function has not reported yet"
    live.note(longest=max(seconds), wake_ups=len(seconds))
    assert max(seconds) <= MOST_SECONDS, f"a run took {max(seconds)} s"
    alarm = base.one("ClusterBlockLifecycleAlarm")
    (shown,) = base.client("cloudwatch").describe_alarms(AlarmNames=[alarm])["MetricAlarms"]
    assert shown["StateValue"] != "ALARM", shown.get("StateReason")


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


@question("L12", tier=2, minutes=5, needs=["L1"], phase="during")
def test_ec2_sends_the_event_of_the_start(live: Live) -> None:
    """Which events does EC2 send, under which names, and what does the reservation show?

    The life cycle's function logs each event that it receives. Passes when the detail type of one of them begins with `Capacity Block`, and the reservation is
    `active` with the start and end that were bought. By hand, from the purchase to a day after the end: note `State`, `StartDate`, `EndDate` and
    `TotalInstanceCount` after an extension was bought and when it was paid, and when EC2 no longer lists the reservation.
    """
    found, base = live.of("L1"), Cluster(live, live.of("L1"))
    events = base.client("logs").filter_log_events(
        logGroupName=base.one("ClusterBlockLifecycleLogs"), filterPattern='"Capacity Block"', limit=50
    )["events"]
    names = sorted(
        {name for each in events for name in re.findall(r"Capacity Block [A-Z]\w+(?: \w+)?", each["message"])}
    )
    live.note(events=names)
    assert names, "the function has seen no event of the block"
    shown = base.client("ec2").describe_capacity_reservations(CapacityReservationIds=[found["reservation"]])
    assert shown["CapacityReservations"][0]["State"] == "active"


@question(
    "L34",
    tier=2,
    cost=block(TYPE, REGION, count=COUNT) + standing(cluster(), hours=24),
    minutes=10,
    needs=["L1"],
    phase="end",
    buys=1,
)
def test_an_extension_shows_in_its_history(live: Live) -> None:
    """Does an extension appear in its history at once, with the offering's ID?

    Extends the block by a day, if the fee is no higher than the list price that was reserved. Passes when `DescribeCapacityBlockExtensionHistory` has the ID of
    the offering within minutes. The drain of L10 is then a day later.
    """
    found = live.of("L1")
    ec2 = live.client("ec2", found["region"])

    def history() -> Any:
        shown = ec2.describe_capacity_block_extension_history(CapacityReservationIds=[found["reservation"]])
        return shown["CapacityBlockExtensions"]

    if not live.run.journal.of("sending", live.question.id):
        offered = ec2.describe_capacity_block_extension_offerings(
            CapacityReservationId=found["reservation"], CapacityBlockExtensionDurationHours=24
        )["CapacityBlockExtensionOfferings"]
        fair = [
            each for each in offered if Decimal(each["UpfrontFee"]) <= block(TYPE, REGION, count=COUNT).once
        ]
        assert fair, f"no extension is offered for the list price: {[each['UpfrontFee'] for each in offered]}"
        ec2.purchase_capacity_block_extension(
            CapacityReservationId=found["reservation"],
            CapacityBlockExtensionOfferingId=fair[0]["CapacityBlockExtensionOfferingId"],
        )
    shown = live.wait("the history", history, minutes=8, every=10)
    assert shown[0].get("CapacityBlockExtensionOfferingId"), f"the history has no ID of the offer: {shown[0]}"
    end = max(moment(found["end"]), *(each["CapacityBlockExtensionEndDate"] for each in shown))
    live.keep(stands_until=(end + dt.timedelta(hours=1)).isoformat(), end=end.isoformat())


@question(
    "L10",
    tier=2,
    minutes=75,
    needs=["L1"],
    phase="after",
    local="tests/integration/test_block_lifecycle_on_local_aws.py follows the same function through a drain there",
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


@question(
    "L71", tier=2, cost=standing(cluster(), hours=0, requests="0.02"), minutes=5, needs=["L31"], phase="after"
)
def test_the_fee_of_a_block_is_on_the_bill(live: Live) -> None:
    """Which tags does the fee of a Capacity Block carry on the bill, and in which month?

    Two days after the purchase, queries Cost Explorer for the day of the purchase, grouped by usage type and by the tag of the run. Passes when it lists a
    usage type of Capacity Blocks; the record says whether the usage has the tag. If it does not, add to [cost.md](../reference/cost.md) that a budget does not
    count the fee.
    """
    found = live.of("L31")
    (begun,) = live.run.journal.of("sending", "L31")[:1]
    day = moment(begun["at"]).date()
    live.not_before(
        dt.datetime.combine(day, dt.time(), dt.UTC) + dt.timedelta(days=3), "the bill is not there yet"
    )
    answer = live.client("ce", "us-east-1").get_cost_and_usage(
        TimePeriod={"Start": day.isoformat(), "End": (day + dt.timedelta(days=2)).isoformat()},
        Granularity="DAILY",
        Metrics=["UnblendedCost"],
        Filter={"Dimensions": {"Key": "REGION", "Values": [found["region"]]}},
        GroupBy=[{"Type": "DIMENSION", "Key": "USAGE_TYPE"}, {"Type": "TAG", "Key": RUN_TAG}],
    )
    keys = [each["Keys"] for one in answer["ResultsByTime"] for each in one["Groups"]]
    blocks = [
        each
        for each in keys
        if re.search(r"CapacityBlock|Capacity-Block|CBR|Reservation", each[0], re.IGNORECASE)
    ]
    live.note(lines=blocks)
    assert blocks, f"no line of a Capacity Block among {[each[0] for each in keys][:10]}"


# Large nodes on demand, before the block: the net then still ends each of them within minutes


def run_large(live: Live, cards: list[dict[str, Any]], count: int = 1) -> list[dict[str, Any]]:
    base = Cluster(live, live.of("L83"))
    ec2 = base.client("ec2")
    subnet = base.one("NetworkSubnet")
    (found,) = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"]
    zones = ec2.describe_instance_type_offerings(
        LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": [LARGE]}]
    )["InstanceTypeOfferings"]
    assert found["AvailabilityZone"] in {each["Location"] for each in zones}, (
        f"{LARGE} is not in the zone of the cluster"
    )
    groups = [base.one("NetworkSecurityGroup")]
    placed = [{"SubnetId": subnet, "Groups": groups, "DeleteOnTermination": True, **card} for card in cards]
    return base.launch(count, InstanceType=LARGE, NetworkInterfaces=placed)


def online(live: Live, instance: str) -> None:
    filters = [{"Key": "InstanceIds", "Values": [instance]}]
    ssm = live.client("ssm")
    live.wait(
        "the node is online",
        lambda: ssm.describe_instance_information(Filters=filters)["InstanceInformationList"],
        minutes=12,
    )


def one_by_one() -> list[dict[str, Any]]:
    first = {"NetworkCardIndex": 0, "DeviceIndex": 0, "InterfaceType": "efa"}
    rest = [{"NetworkCardIndex": card, "DeviceIndex": 1, "InterfaceType": "efa"} for card in range(1, 8)]
    return [first, *rest]


@question(
    "L64",
    tier=2,
    cost=nodes(LARGE),
    minutes=25,
    needs=["L83"],
    nodes=1,
    local="moto keeps only one interface of an instance for each device index",
)
def test_ec2_takes_interfaces_one_by_one(live: Live) -> None:
    """Does EC2 accept separately specified interfaces, is the AMI's EFA module enough, and are four disks joined?

    Launches one trn1.32xlarge with the rollout's eight EFA interfaces, which have device index 1 on every card but the first. Passes when `DescribeNetworkInterfaces` lists them as
    requested, `/dev/infiniband` has eight devices without an installer (L65), and `lsblk` lists the four disks of `/scratch` (L61).
    """
    (node,) = run_large(live, one_by_one())
    shown = live.client("ec2").describe_network_interfaces(
        Filters=[{"Name": "attachment.instance-id", "Values": [node["InstanceId"]]}]
    )["NetworkInterfaces"]
    asked = {(each["NetworkCardIndex"], each["DeviceIndex"]) for each in one_by_one()}
    found = {
        (each["Attachment"].get("NetworkCardIndex", 0), each["Attachment"]["DeviceIndex"]) for each in shown
    }
    assert found == asked, f"EC2 has {sorted(found)}"
    online(live, node["InstanceId"])
    devices = live.on_node(
        node["InstanceId"], "ls /dev/infiniband | grep -c uverbs; lsblk -dno NAME | grep -c nvme"
    )
    efa, disks = (int(each) for each in devices.split())
    live.note(disks=disks)
    live.keep(efa=efa)
    assert efa == 8, f"{efa} of 8 EFA devices without the installer"
    assert disks >= 4, f"{disks} disks"


@question("L65", tier=2, minutes=2, needs=["L64"], local="it depends on L64")
def test_the_efa_module_of_the_ami_is_enough(live: Live) -> None:
    """Is the EFA module of the ECS Neuron AMI enough without the installer?

    Reads the result of L64. Passes when the node had all eight devices. `NeuronAmi` then need not install the driver: add `efa-driver` to the row of
    `ecs-neuron`, with the date.
    """
    seen = live.of("L64")["efa"]
    assert seen == 8, f"L64 saw {seen} devices"


@question("L47", tier=2, cost=nodes(LARGE), minutes=40, needs=["L83"], nodes=1)
def test_lustre_mounts_on_a_node_with_efa(live: Live) -> None:
    """Do p5 or trn1 nodes mount over EFA, and how fast?

    One trn1.32xlarge mounts the file system of L83 over TCP, because the smallest file systems do not support EFA. Passes when it mounts and `lnetctl net show`
    lists its networks. By hand: write to it and note the throughput; repeat with `efa: true`, 4,800 GiB at 1,000 MB/s for each TiB, and AWS's
    `configure-efa-fsx-lustre-client`. Expected: `lnetctl net show` lists `efa` and its counters rise.
    """
    (node,) = run_large(live, one_by_one()[:1])
    online(live, node["InstanceId"])
    shown = live.on_node(
        node["InstanceId"],
        "until mountpoint -q /fsx; do sleep 5; done; df /fsx | tail -1; lnetctl net show",
        minutes=10,
    )
    live.note(shown=shown[:500])
    assert "@tcp" in shown or "@efa" in shown or "net type" in shown, (
        f"no network of Lustre in {shown[:200]!r}"
    )


@question("L101", tier=2, cost=nodes("inf2.xlarge", 20), minutes=15, needs=["L83"], nodes=20)
def test_twenty_nodes_start_within_the_bucket_of_the_account(live: Live) -> None:
    """How fast does a Region start nodes, and does it throttle?

    Launches 20 inf2.xlarge in one request. Passes when all run within ten minutes and CloudTrail has no `Client.RequestLimitExceeded`. By hand: deploy a
    cluster of 20 nodes, and see in CloudTrail which principal sends the requests of AWS Batch.
    """
    base = Cluster(live, live.of("L83"))
    launched = base.launch(20, InstanceType="inf2.xlarge")
    ids = [each["InstanceId"] for each in launched]

    def run() -> bool:
        groups = base.client("ec2").describe_instances(InstanceIds=ids)["Reservations"]
        return all(each["State"]["Name"] == "running" for group in groups for each in group["Instances"])

    live.wait("all nodes run", run, minutes=10)
    events = base.client("cloudtrail").lookup_events(
        LookupAttributes=[{"AttributeKey": "EventName", "AttributeValue": "RunInstances"}]
    )["Events"]
    throttled = [
        each["EventId"] for each in events if "RequestLimitExceeded" in each.get("CloudTrailEvent", "")
    ]
    assert throttled == [], f"{len(throttled)} requests were throttled"


def test_the_policy_of_tier_2_allows_what_its_calls_need_and_nothing_else(
    calls_of_tier: Callable[[int], set[str]],
) -> None:
    check_policy(2, calls_of_tier(2))
