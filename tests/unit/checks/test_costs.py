"""Budgets that notify nobody, and what is paid without use."""

from typing import Any

import pytest

from ultracluster_checks import Source, check_templates


def budget(amount: int = 100, **notification: Any) -> dict[str, Any]:
    told = {"ComparisonOperator": "GREATER_THAN", "Threshold": 80, **notification}
    notifications = [{"Notification": told, "Subscribers": [{"Address": "costs@example.com"}]}]
    properties = {
        "Budget": {"BudgetLimit": {"Amount": amount}},
        "NotificationsWithSubscribers": notifications,
    }
    return {"Type": "AWS::Budgets::Budget", "Properties": properties}


def volume(*, goes: bool) -> dict[str, Any]:
    data = {"BlockDeviceMappings": [{"Ebs": {"Encrypted": True, "DeleteOnTermination": goes}}]}
    return {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}


BROKEN: tuple[tuple[str, dict[str, Any], None], ...] = (
    ("UC6459", {"It": budget(0)}, None),
    ("UC6459", {"It": budget(Threshold=1000)}, None),
    ("UC6459", {"It": budget(ComparisonOperator="LESS_THAN")}, None),
    ("UC6459", {"It": {"Type": "AWS::Budgets::Budget"}}, None),
    ("UC5216", {"It": {"Type": "AWS::Logs::LogGroup"}}, None),
    ("UC4226", {"It": volume(goes=False)}, None),
)
KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("UC6459", {"It": budget()}),
    ("UC6459", {"It": budget(Threshold=1000, ThresholdType="ABSOLUTE_VALUE")}),
    ("UC4226", {"It": volume(goes=True)}),
)


def codes(resources: dict[str, Any]) -> set[str]:
    report = check_templates([Source(name="it", body={"Resources": resources})])
    return {each.code for each in report.findings}


@pytest.mark.parametrize(("code", "resources", "_"), BROKEN)
def test_what_is_paid_without_use_breaks_the_rule(code: str, resources: dict[str, Any], _: None) -> None:
    assert code in codes(resources)


@pytest.mark.parametrize(("code", "resources"), KEPT)
def test_what_has_an_end_keeps_the_rule(code: str, resources: dict[str, Any]) -> None:
    assert code not in codes(resources)
