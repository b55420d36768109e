"""Searching many Regions: every page, every duration, retries, and clear findings."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.runtime.purchasing.example_orders import offering
from tests.unit.runtime.purchasing.simulation import START

from ultracluster_catalog.limits.quotas import CAPACITY_BLOCK_QUOTAS
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_runtime.purchasing.aws_errors import CAPACITY_BLOCK_LIMIT, UNREADABLE_ANSWER
from ultracluster_runtime.purchasing.effects import DescribeOfferings, Page, ReadFailed
from ultracluster_runtime.purchasing.search import Search, SearchResult, search_offerings

SEARCH = Search(
    regions=("us-east-2", "us-west-2"),
    instance_type="trn2.48xlarge",
    counts=(16,),
    hours=(336,),
    start_after=START,
    start_before=START + timedelta(days=30),
    end_by=START + timedelta(days=45),
)
LIMITED = ReadFailed(code=CAPACITY_BLOCK_LIMIT, message="Rate exceeded", transient=True)
NO_QUOTA = ReadFailed(
    code=CAPACITY_BLOCK_LIMIT,
    message="Your existing service limits are not sufficient to use EC2 Capacity Blocks",
    transient=False,
)


def search(
    read: Callable[[DescribeOfferings], Any], slept: list[float] | None = None, **changes: Any
) -> SearchResult:
    naps = [] if slept is None else slept
    return search_offerings(replace(SEARCH, **changes), read=read, sleep=naps.append)


def one_each(effect: DescribeOfferings) -> Page[Any]:
    name = f"{effect.region}-{effect.count}-{effect.hours}"
    return Page(items=(offering(offering_id=name, region=effect.region),))


def test_asks_every_region_for_every_duration_and_count() -> None:
    found = search(one_each, counts=(8, 16), hours=(24, 48, 72)).offerings
    assert len({item.offering_id for item in found}) == 2 * 2 * 3


def test_reads_every_page_also_after_an_empty_one() -> None:
    def read(effect: DescribeOfferings) -> Page[Any]:
        if effect.page is None:
            return Page(items=(), next_token="a")
        if effect.page == "a":
            return Page(items=(offering(offering_id="one"),), next_token="b")
        return Page(items=(offering(offering_id="two"), offering(offering_id="one")))

    found = search(read, regions=("us-east-2",)).offerings
    assert sorted(item.offering_id for item in found) == ["one", "two"]


def test_leaves_out_what_starts_outside_the_window() -> None:
    early = offering(offering_id="early", start=START - timedelta(seconds=1))
    late = offering(offering_id="late", start=SEARCH.start_before + timedelta(seconds=1))
    inside = [
        offering(offering_id="first", start=START),
        offering(offering_id="last", start=SEARCH.start_before),
    ]
    found = search(lambda _: Page(items=(early, late, *inside))).offerings
    assert sorted(item.offering_id for item in found) == ["first", "last"]


def test_waits_longer_each_time_when_there_were_too_many_searches() -> None:
    answers = [LIMITED, LIMITED, one_each]
    slept: list[float] = []

    def read(effect: DescribeOfferings) -> Any:
        answer = answers.pop(0)
        return answer(effect) if callable(answer) else answer

    result = search(read, slept, regions=("us-east-2",))
    assert len(result.offerings) == 1
    assert slept == sorted(slept)
    assert len(slept) == 2


@pytest.mark.parametrize(
    ("code", "naps"), [(CAPACITY_BLOCK_LIMIT, 3), ("ConnectTimeoutError", 1), (UNREADABLE_ANSWER, 1)]
)
def test_waits_once_for_what_botocore_has_repeated(code: str, naps: int) -> None:
    slept: list[float] = []
    search(lambda _: replace(LIMITED, code=code), slept, regions=("us-east-2",))
    assert len(slept) == naps


def test_reports_regions_without_an_answer() -> None:
    result = search(lambda effect: LIMITED if effect.region == "us-west-2" else one_each(effect))
    assert [item.region for item in result.offerings] == ["us-east-2"]
    (finding,) = result.findings
    assert (finding.code, finding.path) == ("UC7042", "us-west-2")


def test_distinguishes_a_missing_quota_from_throttling_and_prints_the_command() -> None:
    slept: list[float] = []
    result = search(lambda _: NO_QUOTA, slept, regions=("us-east-2",))
    (finding,) = result.findings
    assert finding.code == "UC7041"
    assert slept == []  # waiting does not help
    code = CAPACITY_BLOCK_QUOTAS["trn2"].code
    assert f"--quota-code {code} --desired-value {16 * 192} --region us-east-2" in finding.remedy


def test_asks_for_the_quota_of_whole_ultraservers() -> None:
    result = search(
        lambda _: NO_QUOTA,
        regions=("us-east-2",),
        instance_type=None,
        ultraserver_type="u-trn2x64",
        counts=(2,),
    )
    (finding,) = result.findings
    assert finding.code == "UC7041"
    assert "u-trn2x64" in finding.problem
    assert finding.remedy.startswith("Request the quota")


def test_an_account_without_ultraservers_is_not_sent_to_look_at_its_policies() -> None:
    said = "AWS Account is not authorized to call DescribeCapacityBlockOfferings API when requesting an EC2 UltraServer"
    refusal = ReadFailed(code="UnauthorizedOperation", message=said, transient=False)
    result = search(
        lambda _: refusal,
        regions=("us-east-2",),
        instance_type=None,
        ultraserver_type="u-trn2x64",
        counts=(1,),
    )
    (finding,) = result.findings
    assert finding.code == "UC7055"
    assert "Ask your AWS account team" in finding.remedy


def test_region_that_does_not_sell_is_not_a_problem() -> None:
    said = "The instance type 'trn2.48xlarge' is not supported for Capacity Blocks in 'us-west-2'"
    refusal = ReadFailed(code="InvalidParameterValue", message=said, transient=False)
    result = search(lambda effect: refusal if effect.region == "us-west-2" else one_each(effect))
    assert result.not_sold == ["us-west-2"]
    assert result.findings == []


def test_searches_nothing_without_regions() -> None:
    assert search(one_each, regions=()) == SearchResult()


@pytest.mark.slow
def test_twenty_regions_of_200_milliseconds_take_less_than_two_seconds() -> None:
    def read(effect: DescribeOfferings) -> Page[Any]:
        time.sleep(0.2)
        return one_each(effect)

    began = time.monotonic()
    result = search(read, regions=REGIONS[:20])
    assert len(result.offerings) == 20
    assert time.monotonic() - began < 2
