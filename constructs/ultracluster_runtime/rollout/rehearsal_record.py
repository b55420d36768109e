"""The record of the last rehearsal of a cluster, in an SSM parameter that other users and commands can read."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.values import plain

_FORMAT: Final = 1
_MOST_BYTES: Final = (
    4_096  # limit of a standard parameter, which is free: Systems Manager user guide, read 2026-11
)
_MOST_FAILURES: Final = 10
_LONGEST_FAILURE: Final = 250


@dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsal:
    """Outcome of a rehearsal."""

    digest: str  # digest of the cluster's configuration, without its capacity
    at: datetime  # when it ended, timezone-aware
    passed: int
    failures: tuple[str, ...]  # code and evidence of each check that failed

    def describe(self, digest: str | None) -> tuple[bool, str]:
        """Return whether the record applies to a configuration, and a sentence about it; the digest may be unknown."""
        when = f"rehearsed on {self.at:%Y-%m-%d %H:%M} UTC"
        if self.failures:
            return False, f"{when}, with failures: {'; '.join(self.failures)}"
        if digest is not None and digest != self.digest:
            return False, f"{when}, as an older version of it"
        return True, f"{when}: {self.passed} checks passed"


def cluster_digest(cluster: Cluster) -> str:
    """Return a digest of a cluster that a purchase does not change, by which its rehearsal is recognized."""
    nothing: dict[str, Any] = {"reservation_id": None, "order": None, "start": None, "end": None}
    same = replace(
        cluster,
        profile=None,
        suppress={},
        capacity=replace(cluster.capacity, **nothing),
        additional_capacity=tuple(replace(each, **nothing) for each in cluster.additional_capacity),
    )
    text = json.dumps(plain(same))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def parameter_name(cluster: str) -> str:
    """Return the name of the parameter with the record of a cluster."""
    return f"/ultracluster/rehearsals/{cluster}"


def write_rehearsal(ssm: Any, cluster: str, rehearsal: Rehearsal) -> None:
    """Replace the record of a cluster."""
    failures = [failure[:_LONGEST_FAILURE] for failure in rehearsal.failures[:_MOST_FAILURES]]
    values = asdict(rehearsal) | {"format": _FORMAT, "at": rehearsal.at.isoformat(timespec="seconds")}
    while len(text := json.dumps(values | {"failures": failures})) > _MOST_BYTES:
        failures.pop()
    ssm.put_parameter(Name=parameter_name(cluster), Value=text, Type="String", Overwrite=True)


def read_rehearsal(ssm: Any, cluster: str) -> Rehearsal | None:
    """Return the record of a cluster, or None if it was never rehearsed or another version wrote it."""
    try:
        text = ssm.get_parameter(Name=parameter_name(cluster))["Parameter"]["Value"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ParameterNotFound":
            return None
        raise
    return parse_rehearsal(text)


def parse_rehearsal(text: str) -> Rehearsal | None:
    """Return a record, or None if the text is not one of this version."""
    try:
        values: Mapping[str, Any] = json.loads(text)
        if values["format"] != _FORMAT:
            return None
        failures: Sequence[str] = values["failures"]
        at = datetime.fromisoformat(values["at"])
        return Rehearsal(
            digest=values["digest"], at=at, passed=int(values["passed"]), failures=tuple(failures)
        )
    except (KeyError, TypeError, ValueError):
        return None
