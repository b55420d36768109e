"""Recipients of notifications are distinct addresses, and at most one topic of the Region."""

import pytest

from ultracluster_spec.alarms import check_recipients

TOPIC = "arn:aws:sns:us-east-2:123456789012:alarms"


@pytest.mark.parametrize(
    ("recipients", "path"),
    [
        (["jane"], "notify[0]"),
        (["a@example.com", "a@example.com"], "notify[1]"),
        ([TOPIC, "a@example.com", f"{TOPIC}2"], "notify[2]"),
        ([None, TOPIC], "notify[1]"),
        ([TOPIC.replace("us-east-2", "us-west-2")], "notify[0]"),
    ],
)
def test_refuses_recipients_that_nothing_reaches(recipients: list[str | None], path: str) -> None:
    assert [(each.code, each.path) for each in check_recipients(recipients, region="us-east-2")] == [
        ("UC6449", path)
    ]


@pytest.mark.parametrize(
    "recipients", [[], [TOPIC], [None, "a@example.com"], ["a@example.com", "b@example.com", TOPIC]]
)
def test_takes_addresses_and_one_topic(recipients: list[str | None]) -> None:
    assert check_recipients(recipients, region="us-east-2") == []
