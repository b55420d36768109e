"""What the watch of capacity searches for, what it takes for news, and what it does when AWS does not answer."""

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.runtime.purchasing.ec2_fixtures import answered_offering

from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_runtime.watch import offerings as watch
from ultracluster_runtime.watch.offerings import Wanted, last_price, news, record, search

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
WANTED = {
    "watch": "Capacity/Watch",
    "instance_type": "trn2.48xlarge",
    "counts": [4, 2],
    "hours": 24,
    "start_after": NOW.isoformat(),
    "start_before": (NOW + timedelta(days=10)).isoformat(),
    "regions": ["us-east-2", "ap-south-2"],
    "max_usd": 4000,
    "until": (NOW + timedelta(days=12)).isoformat(),
}


def wanted(**changes: Any) -> Wanted:
    return Wanted.from_environment({"UC_STANDING_ORDER": json.dumps(WANTED | changes)})


def offer(count: int, **changes: Any) -> dict[str, Any]:
    sized = {"CapacityBlockOfferingId": f"cb-{count}", "InstanceCount": count, "UpfrontFee": str(858 * count)}
    return answered_offering(NOW + timedelta(days=1), **sized | changes)


class Ec2:
    """EC2 that offers the same for each question, and keeps the questions."""

    def __init__(self, *offers: dict[str, Any], error: str = "") -> None:
        self.offers, self.error, self.asked = offers, error, list[dict[str, Any]]()

    def get_paginator(self, _: str) -> Any:
        return SimpleNamespace(paginate=self._pages)

    def _pages(self, **question: Any) -> list[dict[str, Any]]:
        self.asked.append(question)
        if self.error:
            raise ClientError({"Error": {"Code": self.error, "Message": "no"}}, "Describe")
        return [{"CapacityBlockOfferings": [*self.offers]}]


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"UpfrontFee": "4000"}, True),
        ({"UpfrontFee": "4000.01"}, False),
        ({"CurrencyCode": "EUR"}, False),
        ({"InstanceCount": 3}, False),
        ({"InstanceType": "trn2.3xlarge"}, False),
        ({"StartDate": NOW - timedelta(minutes=1), "EndDate": NOW + timedelta(hours=23, minutes=59)}, False),
        ({"EndDate": NOW + timedelta(days=3, minutes=1), "CapacityBlockDurationMinutes": 1, "CapacityBlockDurationHours": 48}, False),
        ({"EndDate": NOW + timedelta(days=3), "CapacityBlockDurationHours": 48}, True),
    ],
)  # fmt: skip
def test_takes_only_what_is_wanted(changes: dict[str, Any], *, fits: bool) -> None:
    found, unread = search(wanted(regions=["us-east-2"]), lambda _: Ec2(offer(4, **changes)), NOW)
    assert (len(found), unread) == (fits, [])


def test_the_largest_comes_first_and_every_size_is_asked_for_in_every_region() -> None:
    ec2 = Ec2(offer(2), offer(4))
    found, _ = search(wanted(), lambda _: ec2, NOW)
    assert [each.instance_count for each in found] == [4, 2]
    assert [question["InstanceCount"] for question in ec2.asked] == [4, 2, 4, 2]


def test_a_region_without_an_answer_does_not_hide_the_others() -> None:
    found, unread = search(
        wanted(), lambda region: Ec2(error="Throttling") if region == "ap-south-2" else Ec2(offer(4)), NOW
    )
    assert len(found) == 1
    assert [line.partition(":")[0] for line in unread] == ["ap-south-2"]


def _found(fee: int) -> list[Offering]:
    return search(wanted(regions=["us-east-2"]), lambda _: Ec2(offer(4, UpfrontFee=str(fee))), NOW)[0]


@pytest.mark.parametrize(
    ("fee", "before", "said"),
    [
        (3432, None, "Capacity is on offer"),
        (3432, 35.75, ""),
        (3432, 35.755, ""),
        (3432, 35.76, "The price fell from 35.76 USD per node-hour"),
        (3432, 30.0, ""),
    ],
)
def test_news_is_an_offering_that_appears_or_a_lower_price(fee: int, before: float | None, said: str) -> None:
    assert news(_found(fee), before) == said


def test_nothing_on_offer_is_no_news() -> None:
    assert news([], None) == news([], 35.75) == ""


def test_the_record_has_the_history_and_both_metrics() -> None:
    logged = json.loads(record(wanted(), _found(3432), [], NOW))
    assert (logged["OfferingsThatFit"], logged["LowestNodeHour"]) == (1, 35.75)
    assert logged["offerings"][0].startswith(
        "4 x trn2.48xlarge in us-east-2 (us-east-2c), 2026-12-02 12:00 to"
    )
    assert "LowestNodeHour" not in json.loads(record(wanted(), [], ["x"], NOW))


def _prices(*values: float) -> Any:
    times = [NOW - timedelta(minutes=len(values) - index) for index in range(len(values))]
    page = {"MetricDataResults": [{"Id": "m0", "Timestamps": times, "Values": values}]}
    return SimpleNamespace(get_paginator=lambda _: SimpleNamespace(paginate=lambda **_: [page]))


@pytest.mark.parametrize("values", [[], [35.75, 40.0]])
def test_the_newest_price_counts(values: list[float]) -> None:
    assert last_price(_prices(*values), "Capacity/Watch", NOW) == (values[-1] if values else None)


@pytest.mark.parametrize(("changes", "over"), [({}, False), ({"until": NOW.isoformat()}, True), ({"start_before": NOW.isoformat()}, True)])  # fmt: skip
def test_the_search_ends(changes: dict[str, str], *, over: bool) -> None:
    assert wanted(**changes).is_over(NOW) == over


def test_a_search_that_nobody_answers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    until = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    values = WANTED | {"until": until, "start_before": until}
    monkeypatch.setenv("UC_STANDING_ORDER", json.dumps(values))
    quiet = _prices()
    refusing = Ec2(error="UnauthorizedOperation")
    monkeypatch.setattr(watch, "_CLIENTS", lambda service, *_: refusing if service == "ec2" else quiet)
    with pytest.raises(RuntimeError, match="no Region answered: us-east-2"):
        watch.handler({}, None)
