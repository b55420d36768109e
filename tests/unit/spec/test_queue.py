"""Queues in a rollout file."""

import pytest

from ultracluster_spec.queue import check_shares, check_wait_limits

IDENTIFIER = "Allowed: 1 to 255 letters and digits, optionally with an asterisk at the end as a wildcard."


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"team-a": 1}, [f"UC6301: queue.shares: got 'team-a'. {IDENTIFIER}"]),
        ({"a" * 256: 1}, [f"UC6301: queue.shares: got '{'a' * 72}. {IDENTIFIER}"]),
        ({"a": 0}, ["UC6302: queue.shares.a: got 0. Allowed: 1 to 1,000."]),
        ({"a": 1_001}, ["UC6302: queue.shares.a: got 1001. Allowed: 1 to 1,000."]),
        (
            {"ab": 1, "a*": 1},
            ["UC6303: queue.shares: 'a*' also matches 'ab'. Leave one of them out."],
        ),
        (
            {"b*": 1, "bcd*": 1, "a": 1},
            ["UC6303: queue.shares: 'b*' also matches 'bcd*'. Leave one of them out."],
        ),
        (
            {f"s{number:03}": 1 for number in range(501)},
            ["UC6303: queue.shares: got 501 share identifiers. Allowed: up to 500."],
        ),
    ],
)
def test_refuses_shares_that_batch_does_not_take(parts: dict[str, int], said: list[str]) -> None:
    assert [str(finding) for finding in check_shares(parts, path="queue.shares")] == said


def test_takes_shares_that_are_just_allowed() -> None:
    parts = {f"s{number:03}": 1 for number in range(498)} | {"a" * 255 + "*": 1_000, "ab*": 1}

    assert check_shares(parts, path="") == []


REMEDY = "Leave it out; `ultracluster jobs why` shows what a job waits for."


@pytest.mark.parametrize(
    ("block", "reserved", "refused"),
    [
        (
            True,
            False,
            {"insufficient_capacity": "a Capacity Block", "exceeds_environments": "a Capacity Block"},
        ),
        (False, True, {"insufficient_capacity": "reserved capacity"}),
        (False, False, {}),
    ],
)
def test_a_job_that_waits_for_its_capacity_is_not_cancelled_for_it(
    *, block: bool, reserved: bool, refused: dict[str, str]
) -> None:
    limits = ["insufficient_capacity", "exceeds_environments", "exceeds_nodes"]

    for path, prefix in (("", ""), ("queue.wait_limits", "queue.wait_limits.")):
        found = check_wait_limits(limits, block=block, reserved=reserved, path=path)
        assert [str(finding) for finding in found] == [
            f"UC6307: {prefix}{name}: the queue uses {what}, and the limit would cancel jobs that wait for "
            f"it to start. {REMEDY}"
            for name, what in refused.items()
        ]
