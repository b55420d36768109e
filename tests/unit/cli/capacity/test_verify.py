"""`ultracluster capacity verify` compares the instances of a Region with the named reservations."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.cli.conftest import Run

from ultracluster_cli.capacity import verify
from ultracluster_runtime.purchasing import ec2_reads
from ultracluster_runtime.purchasing.ec2_objects import Reservation
from ultracluster_runtime.purchasing.effects import Page
from ultracluster_runtime.purchasing.verify import LaunchedInstance

VERIFY = ("capacity", "verify", "cr-1", "--region", "us-east-2")
START = datetime(2026, 12, 1, tzinfo=UTC)
INSIDE = LaunchedInstance(instance_id="i-1", lifecycle="capacity-block", reservation_id="cr-1")
OUTSIDE = LaunchedInstance(instance_id="i-2", lifecycle="", reservation_id=None)


class FakeEc2:
    """EC2 with two reservations of one type."""

    state = "active"

    @classmethod
    def read_page(cls, *_: Any) -> Page[Reservation]:
        return Page(
            items=tuple(
                Reservation(
                    reservation_id=name,
                    state=cls.state,
                    reservation_type="capacity-block",
                    instance_type="trn2.48xlarge",
                    instance_count=2,
                    zone_id="use2-az3",
                    start=START,
                    end=None,
                    created=START,
                    order_name=None,
                )
                for name in ("cr-1", "cr-2")
            )
        )


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The instances that EC2 lists, and the filters that it was asked with."""
    record: dict[str, Any] = {"instances": [INSIDE, INSIDE]}

    def read_instances(_: Any, *, filters: list[dict[str, Any]]) -> list[LaunchedInstance]:
        record["filters"] = filters
        instances: list[LaunchedInstance] = record["instances"]
        return instances

    monkeypatch.setattr(verify, "clients_of", lambda _: lambda service, region: (service, region))
    monkeypatch.setattr(ec2_reads, "read_page", FakeEc2.read_page)
    monkeypatch.setattr(verify, "read_instances", read_instances)
    return record


def test_counts_the_instances_inside_the_named_reservation_only(run: Run, launched: dict[str, Any]) -> None:
    outcome = run(*VERIFY, "--tag", "team=a=b", "--json")

    assert outcome.code == 0
    assert json.loads(outcome.stdout) == {"reserved": 2, "inside": 2, "outside": 0, "findings": []}
    assert launched["filters"] == [
        {"Name": "instance-type", "Values": ["trn2.48xlarge"]},
        {"Name": "tag:team", "Values": ["a=b"]},
    ]


def test_an_instance_outside_the_reservation_is_a_failure(run: Run, launched: dict[str, Any]) -> None:
    launched["instances"] = [INSIDE, OUTSIDE]

    outcome = run(*VERIFY)

    assert outcome.code == 2
    assert "UC7045: i-2" in outcome.stderr


def test_an_unknown_reservation_is_refused_before_instances_are_read(
    run: Run, launched: dict[str, Any]
) -> None:
    outcome = run(*VERIFY, "cr-3")

    assert outcome.code == 2
    assert outcome.stderr.startswith("error: cr-3 not found in us-east-2")
    assert "filters" not in launched


def test_a_reservation_that_has_not_started_is_no_failure(
    run: Run, launched: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeEc2, "state", "scheduled")

    outcome = run(*VERIFY, "--json")

    assert outcome.code == 0
    assert json.loads(outcome.stdout)["findings"] == []
    assert outcome.stderr.startswith("cr-1 is scheduled: it starts 1 Dec 00:00")
    assert "filters" not in launched
