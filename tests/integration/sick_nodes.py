"""Nodes of the quick start on the local AWS that report faults, and what the life cycle of its block remembers of them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.integration.quickstart_block import REGION, RESERVATION

from ultracluster_local import LocalAws

MINUTE = timedelta(minutes=1)


def begin_soon() -> datetime:
    """When a block may start: CloudWatch Logs refuses events of more than two hours ahead, by the time of this machine."""
    return (datetime.now(UTC) + 20 * MINUTE).replace(second=0, microsecond=0)


def register_image(local: LocalAws) -> str:
    image = local.client("ec2", REGION).register_image(Name="nodes", RootDeviceName="/dev/xvda")
    return str(image["ImageId"])


def nodes(local: LocalAws) -> dict[str, str | None]:
    """The reservation of each node that is not ended."""
    alive = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    found = local.client("ec2", REGION).describe_instances(Filters=alive)["Reservations"]
    return {
        instance["InstanceId"]: instance.get("CapacityReservationId")
        for each in found
        for instance in each["Instances"]
    }


def report_faults(local: LocalAws, node: str) -> None:
    """Let the node report faults for six minutes, as its agent would."""
    logs = local.client("logs", REGION)
    groups = [each["logGroupName"] for each in logs.describe_log_groups()["logGroups"]]
    (group,) = [each for each in groups if "ClusterMetricsLogs" in each]
    logs.create_log_stream(logGroupName=group, logStreamName=node)
    for _ in range(6):
        local.clock.advance(MINUTE)
        message = json.dumps({"InstanceId": node, "NodeFaults": 1, "Faults": ["DMA_ERROR"]})
        event = {"timestamp": int(local.clock.now().timestamp() * 1000), "message": message}
        answer = logs.put_log_events(logGroupName=group, logStreamName=node, logEvents=[event])
        assert not answer.get("rejectedLogEventsInfo")


def remembered(local: LocalAws) -> dict[str, Any]:
    """What the life cycle has stored about the block."""
    dynamodb = local.client("dynamodb", REGION)
    (item,) = [
        item
        for table in dynamodb.list_tables()["TableNames"]
        for item in dynamodb.scan(TableName=table)["Items"]
        if item["id"] == {"S": RESERVATION}
    ]
    assert "owner" not in item  # the lease was given back
    stored: dict[str, Any] = json.loads(item["state"]["S"])
    return stored
