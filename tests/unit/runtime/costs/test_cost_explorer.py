"""Responses are written by hand after botocore's model of Cost Explorer, not recorded."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.runtime.stubbed_clients import StubbedAws

from ultracluster_runtime.costs.cost_explorer import ActualCosts, actual_costs
from ultracluster_spec.findings import FindingsError


def day(number: int, *, estimated: bool = False, **amounts: str) -> dict[str, Any]:
    return {
        "TimePeriod": {"Start": f"2026-11-{number:02}", "End": f"2026-11-{number + 1:02}"},
        "Estimated": estimated,
        "Groups": [
            {"Keys": [name], "Metrics": {"UnblendedCost": {"Amount": amount, "Unit": "USD"}}}
            for name, amount in amounts.items()
        ],
    }


def expected(group: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "TimePeriod": {"Start": "2026-11-01", "End": "2026-11-03"},
        "Granularity": "DAILY",
        "Metrics": ["UnblendedCost"],
        "Filter": {
            "And": [
                {"Tags": {"Key": "ultracluster:cluster", "Values": ["train"]}},
                {"Dimensions": {"Key": "REGION", "Values": ["us-east-2"]}},
            ]
        },
        "GroupBy": [group],
        **more,
    }


def ask(aws: StubbedAws, by: str | None = None) -> ActualCosts:
    return actual_costs(
        start=date(2026, 11, 1),
        end=date(2026, 11, 3),
        region="us-east-2",
        tag_key="ultracluster:cluster",
        tag_value="train",
        by=by,
        client=aws.client("ce"),
    )


def test_adds_up_days_and_pages_by_service(aws: StubbedAws) -> None:
    group = {"Type": "DIMENSION", "Key": "SERVICE"}
    first = {"ResultsByTime": [day(1, EC2="100.10", FSx="7")], "NextPageToken": "more"}
    aws.answer("ce", "get_cost_and_usage", first, expected(group))
    second = {"ResultsByTime": [day(2, estimated=True, EC2="0.20")]}
    aws.answer("ce", "get_cost_and_usage", second, expected(group, NextPageToken="more"))

    found = ask(aws)

    assert found.amounts == {"EC2": Decimal("100.30"), "FSx": Decimal(7)}
    assert (found.total, found.currency, found.estimated) == (Decimal("107.30"), "USD", True)


def test_groups_by_a_tag_and_keeps_what_has_none(aws: StubbedAws) -> None:
    answer = {"ResultsByTime": [day(1, **{"team$models": "5", "team$": "2"})]}
    aws.answer("ce", "get_cost_and_usage", answer, expected({"Type": "TAG", "Key": "team"}))

    assert ask(aws, by="team").amounts == {"models": Decimal(5), "": Decimal(2)}


def test_no_costs_are_zero(aws: StubbedAws) -> None:
    aws.answer("ce", "get_cost_and_usage", {"ResultsByTime": []})

    assert ask(aws) == ActualCosts(amounts={}, currency="USD", estimated=False)


def test_an_error_of_aws_is_a_finding(aws: StubbedAws) -> None:
    aws.refuse("ce", "get_cost_and_usage", "AccessDeniedException")

    with pytest.raises(FindingsError, match="UC9307"):
        ask(aws)
