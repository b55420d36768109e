"""The record of a rehearsal: what is written is read again, and what it says of a configuration."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, bought

from ultracluster_runtime.rollout.rehearsal_record import (
    Rehearsal,
    cluster_digest,
    read_rehearsal,
    write_rehearsal,
)

SOUND = Rehearsal(digest="abc", at=datetime(2026, 11, 22, 18, 30, tzinfo=UTC), passed=30, failures=())


class Parameters:
    """SSM with one parameter."""

    def __init__(self, value: str | None = None) -> None:
        self.value = value

    def put_parameter(self, **given: Any) -> None:
        assert given["Name"] == "/ultracluster/rehearsals/train"
        self.value = given["Value"]

    def get_parameter(self, **_: Any) -> dict[str, Any]:
        if self.value is None:
            raise ClientError({"Error": {"Code": "ParameterNotFound", "Message": "no"}}, "GetParameter")
        return {"Parameter": {"Value": self.value}}


def test_a_record_is_read_as_it_was_written() -> None:
    ssm = Parameters()
    write_rehearsal(ssm, "train", SOUND)

    assert read_rehearsal(ssm, "train") == SOUND


def test_a_purchase_changes_nothing_by_which_a_rehearsal_is_recognized() -> None:
    digest = cluster_digest(CLUSTER)

    assert len(digest) == 16
    assert cluster_digest(bought(reservation_id="cr-00000000000000009")) == digest
    assert cluster_digest(replace(CLUSTER, nodes=5)) != digest


def test_a_cluster_without_a_record_was_never_rehearsed() -> None:
    assert read_rehearsal(Parameters(), "train") is None


def test_a_refused_read_is_not_taken_for_never() -> None:
    class Denied(Parameters):
        def get_parameter(self, **_: Any) -> dict[str, Any]:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "GetParameter")

    with pytest.raises(ClientError):
        read_rehearsal(Denied(), "train")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 2}', '{"format": 1, "at": "yesterday"}'])
def test_what_is_no_record_of_this_version_counts_as_none(text: str) -> None:
    assert read_rehearsal(Parameters(text), "train") is None


@pytest.mark.parametrize(("letter", "kept"), [("x", 10), ("…", 2)])
def test_a_record_fits_into_a_standard_parameter(letter: str, kept: int) -> None:
    ssm = Parameters()
    failures = tuple(f"UC97{number}: {letter * 5_000}" for number in range(100))
    write_rehearsal(ssm, "train", Rehearsal(digest="abc", at=SOUND.at, passed=0, failures=failures))

    assert ssm.value is not None
    assert len(ssm.value.encode()) <= 4096
    assert len(json.loads(ssm.value)["failures"]) == kept


@pytest.mark.parametrize(
    ("failures", "digest", "sound", "said"),
    [
        ((), "abc", True, "rehearsed on 2026-11-22 18:30 UTC: 30 checks passed"),
        ((), None, True, "rehearsed on 2026-11-22 18:30 UTC: 30 checks passed"),
        ((), "xyz", False, "rehearsed on 2026-11-22 18:30 UTC, as an older version of it"),
        (
            ("UC9712 INVALID",),
            "abc",
            False,
            "rehearsed on 2026-11-22 18:30 UTC, with failures: UC9712 INVALID",
        ),
    ],
)
def test_a_record_speaks_for_what_was_rehearsed(
    failures: tuple[str, ...], digest: str | None, *, sound: bool, said: str
) -> None:
    record = Rehearsal(digest="abc", at=SOUND.at, passed=30, failures=failures)

    assert record.describe(digest) == (sound, said)
