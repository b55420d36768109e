"""Deliver events to the targets of EventBridge rules and schedules: functions, topics, queues, log groups and event buses.

Each target gets an event once; unlike in AWS, failures are recorded in the history and not retried.
"""

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError
from moto.events.models import EventsBackend, Rule, events_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.replacing import instead_of

__all__ = ["Delivery", "deliver", "deliver_to_rules", "history", "new_event"]


_TIME = "%Y-%m-%dT%H:%M:%SZ"


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
        "time": CLOCK.now().strftime(_TIME),
        "region": region,
        "resources": list(resources),
        "detail": detail,
    }


def deliver_to_rules(event: Mapping[str, Any], *, bus: str = "default", region: str = "") -> None:
    """Deliver an event to the enabled rules of a bus whose pattern it matches.

    Raises:
        ValueError: If a target is not supported.
    """
    for rule in list(events_backends[ACCOUNT][region or event["region"]].event_buses[bus].rules.values()):
        _deliver_to_rule(rule, event)


def _deliver_to_rule(rule: Any, event: Mapping[str, Any]) -> None:
    pattern = rule.event_pattern
    if rule.state != "DISABLED" and pattern.get_pattern() and pattern.matches_event(event):
        for target in list(rule.targets):
            deliver(target, event, rule=rule.arn, region=rule.region_name)


@instead_of(Rule, "send_to_targets")
def _send_to_targets(original: Any, rule: Any, event: dict[str, Any], **named: Any) -> None:
    """Deliver an event of a request; a target that the local AWS cannot reach gets it in the history only."""
    if rule.managed_by:  # archives
        original(rule, event, **named)
        return
    moment = datetime.fromtimestamp(float(event["time"]), UTC) if "ingestion-time" in event else CLOCK.now()
    known = {name: value for name, value in event.items() if name != "ingestion-time"}
    sent = {**known, "account": ACCOUNT, "time": moment.strftime(_TIME)}
    try:
        _deliver_to_rule(rule, sent)
    except ValueError as unknown:
        history(rule.region_name).append(
            Delivery(moment=CLOCK.now(), rule=rule.arn, target="", event=sent, error=str(unknown))
        )


@instead_of(EventsBackend, "put_events")
def _put_events(original: Any, backend: Any, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put each event by itself: one without an object of details is malformed, and one for an unknown bus is lost."""
    answers = []
    for event in events:
        bus = str(event.get("EventBusName") or "default").rsplit("/", 1)[-1]
        answer = {"EventId": str(uuid.uuid4())}
        if event.get("Detail") and not _is_object(event["Detail"]):
            answer = {"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}
        elif bus in backend.event_buses:
            (answer,) = original(backend, [{"Time": CLOCK.now().timestamp(), **event}])
        answers.append(answer)
    return answers


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def deliver(target: Mapping[str, Any], event: Mapping[str, Any], *, rule: str, region: str) -> None:
    """Deliver an event to one target and record the result.

    Args:
        target: Target as described by EventBridge.
        event: Event.
        rule: ARN of its rule or schedule.
        region: Region of the rule.

    Raises:
        ValueError: If the target's service is not supported.
    """
    arn = target["Arn"]
    text = _input(target, event, rule)
    try:
        error = _send(target, text, rule=rule)
    except ClientError as refusal:
        error = str(refusal)
    try:
        sent = json.loads(text)
    except ValueError:  # a transformer can make any text
        sent = text
    history(region).append(Delivery(moment=CLOCK.now(), rule=rule, target=arn, event=sent, error=error))


def _input(target: Mapping[str, Any], event: Mapping[str, Any], rule: str) -> str:
    """Return what a target gets; its form is that of localstack/localstack, tests/aws/services/events/test_events_inputs.snapshot.json."""
    transformer = target.get("InputTransformer")
    if not transformer:
        return target.get("Input") or json.dumps(_at(event, target.get("InputPath") or "$"))
    values = {name: _at(event, path) for name, path in (transformer.get("InputPathsMap") or {}).items()}
    values |= {
        "aws.events.rule-arn": rule,
        "aws.events.rule-name": rule.rsplit("/", 1)[-1],
        "aws.events.event.ingestion-time": event["time"],
        "aws.events.event.json": event,
        "aws.events.event": {
            name.replace("detail-type", "detailType"): value
            for name, value in event.items()
            if name != "detail"
        },
    }
    template = transformer["InputTemplate"]

    def value(found: re.Match[str]) -> str:
        one = values.get(found[1], "")
        written = json.dumps("" if one is None else one, separators=(",", ":"))
        quoted = len(re.findall(r'(?<!\\)"', template[: found.start()])) % 2
        return written.replace('"', "") if quoted else written

    return re.sub(r"<([^<>]+)>", value, template)


def _at(event: Any, path: str) -> Any:
    """Return what is at a JSON path such as ``$.detail.items[0]``; None if nothing is there."""
    for name, number in re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", path):
        try:
            event = event[int(number)] if number else event[name]
        except (LookupError, TypeError):
            return None
    return event


def _send(target: Mapping[str, Any], text: str, *, rule: str) -> str:
    arn = target["Arn"]
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
        url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
        sqs.send_message(QueueUrl=url, MessageBody=text, **target.get("SqsParameters", {}))
        return ""
    if service == "logs":
        stream = {"logGroupName": name.split(":")[1], "logStreamName": str(uuid.uuid4())}
        logs = clients.get("logs", region)
        logs.create_log_stream(**stream)
        moment = int(CLOCK.now().timestamp() * 1000)
        logs.put_log_events(**stream, logEvents=[{"timestamp": moment, "message": text}])
        return ""
    if service == "events" and name.startswith("event-bus/"):
        deliver_to_rules(json.loads(text), bus=name.partition("/")[2], region=region)
        return ""
    raise ValueError(f"the local AWS cannot deliver to {arn}, the target of {rule}")
