"""Deliver events to the targets of EventBridge rules and schedules: Lambda functions, SNS topics and SQS queues.

Each target gets an event once; unlike in AWS, failures are recorded in the history and not retried.
"""

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError
from moto.events.models import events_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import region_state

__all__ = ["Delivery", "deliver", "deliver_to_rules", "history", "new_event"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """Delivery of one event to one target.

    Attributes:
        moment: Time by the clock of the local AWS.
        rule: ARN of the rule or schedule.
        target: ARN of the target.
        event: Event that was sent.
        error: The target's error; empty on success.
    """

    moment: datetime
    rule: str
    target: str
    event: Any
    error: str


def history(region: str) -> list[Delivery]:
    """Return the events that were delivered in a Region, oldest first."""
    return region_state("events:history", region=region, new=list[Delivery])


def new_event(
    *, region: str, source: str, detail_type: str, detail: object, resources: Iterable[str]
) -> dict[str, Any]:
    """Create an EventBridge event with the current time."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": detail_type,
        "source": source,
        "account": ACCOUNT,
        "time": CLOCK.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": list(resources),
        "detail": detail,
    }


def deliver_to_rules(event: Mapping[str, Any]) -> None:
    """Deliver an event of an AWS service to the enabled rules of the default bus whose pattern it matches.

    Raises:
        ValueError: If a target is not supported.
    """
    region = event["region"]
    for rule in list(events_backends[ACCOUNT][region].event_buses["default"].rules.values()):
        if rule.state == "DISABLED" or not rule.event_pattern.get_pattern():
            continue
        if rule.event_pattern.matches_event(event):
            for target in list(rule.targets):
                deliver(target, event, rule=rule.arn, region=region)


def deliver(target: Mapping[str, Any], event: Mapping[str, Any], *, rule: str, region: str) -> None:
    """Deliver an event to one target and record the result.

    Args:
        target: Target as described by EventBridge.
        event: Event.
        rule: ARN of its rule or schedule.
        region: Region of the rule.

    Raises:
        ValueError: If the target's service or input transformation is not supported.
    """
    arn = target["Arn"]
    for unknown in ("InputPath", "InputTransformer"):
        if target.get(unknown):
            raise ValueError(f"the local AWS does not support {unknown}, which the rule {rule} uses")
    text = target.get("Input") or json.dumps(event)
    try:
        error = _send(arn, text, rule=rule)
    except ClientError as refusal:
        error = str(refusal)
    history(region).append(
        Delivery(moment=CLOCK.now(), rule=rule, target=arn, event=json.loads(text), error=error)
    )


def _send(arn: str, text: str, *, rule: str) -> str:
    _, _, service, region, _, name = arn.split(":", 5)
    clients = running().clients
    if service == "lambda" and name.startswith("function:"):
        answer = clients.get("lambda", region).invoke(FunctionName=arn, Payload=text)
        return str(answer["Payload"].read(), "utf-8") if "FunctionError" in answer else ""
    if service == "sns":
        clients.get("sns", region).publish(TopicArn=arn, Message=text)
        return ""
    if service == "sqs":
        sqs = clients.get("sqs", region)
        sqs.send_message(QueueUrl=sqs.get_queue_url(QueueName=name)["QueueUrl"], MessageBody=text)
        return ""
    raise ValueError(f"the local AWS cannot deliver to {arn}, the target of {rule}; Lambda, SNS and SQS only")
