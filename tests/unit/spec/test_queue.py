"""Queues in a rollout file."""

import pytest

from ultracluster_spec.queue import check_shares, check_wait_limits


def test_batch_takes_500_share_identifiers_of_255_characters() -> None:
    parts = {f"s{number:03}": 1 for number in range(498)} | {"a" * 255 + "*": 1_000, "ab*": 1}

    assert check_shares(parts, path="") == []
    (finding,) = check_shares(parts | {"one": 1}, path="queue.shares")
    assert str(finding) == "UC6303: queue.shares: got 501 share identifiers. Allowed: up to 500."


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
