"""Queues in a rollout file."""

from ultracluster_spec.queue import check_shares


def test_batch_takes_500_share_identifiers_of_255_characters() -> None:
    parts = {f"s{number:03}": 1 for number in range(498)} | {"a" * 255 + "*": 1_000, "ab*": 1}

    assert check_shares(parts, path="") == []
    (finding,) = check_shares(parts | {"one": 1}, path="queue.shares")
    assert str(finding) == "UC6303: queue.shares: got 501 share identifiers. Allowed: up to 500."
