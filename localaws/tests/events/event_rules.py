"""Rules of EventBridge in the local AWS, for its tests."""

import io
import json
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any

from ultracluster_local import LocalAws

REGION = "us-east-2"
NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
# Detail types of the events of Capacity Blocks: the current name, and that of older pages of the EC2 user guide.
DELIVERED = ("Capacity Block Delivered", "Capacity Block Reservation Delivered")
EXPIRATION_WARNING = ("Capacity Block Expiration Warning", "Capacity Block Reservation Expiration Warning")


def queue(local: LocalAws) -> tuple[str, str]:
    """Make a queue; return its address and ARN."""
    sqs = local.client("sqs", REGION)
    url = sqs.create_queue(QueueName="heard")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    return url, arn


def put_rule(local: LocalAws, target: str, *, more: dict[str, Any] | None = None, **rule: Any) -> None:
    events = local.client("events", REGION)
    events.put_rule(Name="rule", **rule)
    events.put_targets(Rule="rule", Targets=[{"Id": "1", "Arn": target, **(more or {})}])


def heard(local: LocalAws) -> list[tuple[datetime, str]]:
    return [(one.moment, one.event["detail-type"]) for one in local.deliveries(REGION)]


def function(local: LocalAws, source: str) -> str:
    """Make a function; return its ARN."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("index.py", source)
    assumed = {
        "Effect": "Allow",
        "Principal": {"Service": "lambda.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    trust = json.dumps({"Version": "2012-10-17", "Statement": [assumed]})
    role = local.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    made = local.client("lambda", REGION).create_function(
        FunctionName="f",
        Runtime="python3.13",
        Role=role,
        Handler="index.handler",
        Code={"ZipFile": archive.getvalue()},
    )
    return str(made["FunctionArn"])
