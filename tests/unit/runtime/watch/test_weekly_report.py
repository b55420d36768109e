"""What the weekly report is about, when it says nothing, and what it says."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.runtime.metrics.recordings import START, day, recording

from ultracluster_runtime.metrics.recorded_metrics import Recording
from ultracluster_runtime.watch import weekly_report
from ultracluster_runtime.watch.weekly_report import handler, times_of

WEEK = timedelta(days=7)
NOW = START + timedelta(hours=24)


def block(start: datetime, end: datetime | None = None) -> dict[str, Any]:
    return {"CapacityReservationId": "cr-1", "StartDate": start, "EndDate": end}


@pytest.mark.parametrize(
    ("reservations", "times"),
    [
        ([], None),
        ([block(NOW)], None),
        ([block(NOW - timedelta(seconds=1))], (NOW - timedelta(seconds=1), NOW)),
        ([block(START, NOW + WEEK)], (START, NOW)),
        ([block(START - WEEK, START)], (START - WEEK, START)),
        ([block(NOW - 2 * WEEK, NOW - WEEK)], None),
        (
            [block(NOW - 2 * WEEK, NOW - WEEK + timedelta(seconds=1))],
            (NOW - 2 * WEEK, NOW - WEEK + timedelta(seconds=1)),
        ),
        # The latest that has begun, not the one to come.
        (
            [block(START - WEEK, START), block(START, NOW + WEEK), block(NOW + WEEK, NOW + 2 * WEEK)],
            (START, NOW),
        ),
    ],
)
def test_reports_on_the_block_that_runs_or_ended_in_the_last_week(
    reservations: list[dict[str, Any]], times: tuple[datetime, datetime] | None
) -> None:
    assert times_of(reservations, NOW) == times


class Clients:
    """EC2 with a block or without one, and a topic that keeps its messages."""

    def __init__(self, *reservations: dict[str, Any]) -> None:
        self.reservations = list(reservations)
        self.said: list[dict[str, str]] = []

    def __call__(self, service: str) -> Any:
        del service
        return self

    def get_paginator(self, _: str) -> Any:
        return self

    def paginate(self, *, CapacityReservationIds: list[str]) -> Iterator[dict[str, Any]]:  # noqa: N803 - the API's
        if not self.reservations:
            answer = {
                "Error": {
                    "Code": "InvalidCapacityReservationId.NotFound",
                    "Message": str(CapacityReservationIds),
                }
            }
            raise ClientError(answer, "DescribeCapacityReservations")  # type: ignore[arg-type]
        yield {"CapacityReservations": self.reservations}

    def publish(self, **message: str) -> None:
        self.said.append(message)


def report(
    monkeypatch: pytest.MonkeyPatch, clients: Clients, recorded: Recording, price: str = "35.76"
) -> list[str]:
    for name, value in {
        "UC_CLUSTER": "pretrain",
        "AWS_REGION": "us-east-2",
        "UC_RESERVATIONS": "cr-1",
        "UC_NODE_HOUR_USD": price,
        "UC_TOPIC_ARN": "arn:topic",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(weekly_report, "_CLIENTS", clients)
    monkeypatch.setattr(weekly_report, "record_metrics", lambda *_, **__: recorded)
    handler({}, None)
    return [line for message in clients.said for line in message["Message"].splitlines()]


def test_tells_the_topic_the_figures_of_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    clients = Clients(block(START))
    lines = report(monkeypatch, clients, day())
    (message,) = clients.said
    assert (message["TopicArn"], message["Subject"]) == ("arn:topic", "pretrain: weekly report of its block")
    assert lines[0].startswith("pretrain in us-east-2, 2026-11-20 00:00 to ")
    # 16 nodes for 24 hours, of which `cost report` shows the same figures.
    assert "paid: 13,731.84 USD for 384.0 node-hours (35.76 USD for a node-hour, list price)" in lines
    assert "a million tokens: 1.05 USD, without losses 0.9940 USD" in lines
    assert "  no node: 240 (1.0%), 143.04 USD; an instance of the reservation did not run" in lines
    assert not any(line.startswith("  drain") for line in lines)  # what did not happen is left out


def test_says_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = report(monkeypatch, Clients(block(START)), day(), price="")
    assert "paid: not known for 384.0 node-hours (no list price is known)" in lines
    lines = report(monkeypatch, Clients(block(START)), recording())
    assert lines[-1] == "no paid node was recorded"


@pytest.mark.parametrize("reservations", [[], [block(datetime.max.replace(tzinfo=START.tzinfo))]])
def test_says_nothing_before_the_block_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reservations: list[dict[str, Any]]
) -> None:
    assert report(monkeypatch, Clients(*reservations), day()) == []
    assert capsys.readouterr().out == "no block of pretrain runs or has ended in the last week\n"
