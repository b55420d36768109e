"""A small cluster, and clients with fixed answers."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_runtime.preflight.check import (
    Check,
    Outcome,
    Status,
)
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.run import CheckResult, run_checks
from ultracluster_runtime.preflight.subjects import Account, Region, Source
from ultracluster_spec.capacity import CapacityRecord
from ultracluster_spec.cluster import Cluster

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CLUSTER = Cluster(
    name="train",
    region="us-east-2",
    zone_id="use2-az3",
    instance_type="trn2.48xlarge",
    nodes=4,
    image_id="ami-0123456789abcdef0",
    capacity=CapacityRecord(reservation_id="cr-0123456789abcdef0"),
)


def bought(**changes: Any) -> Cluster:
    """The cluster, whose capacity is bought in another way."""
    return replace(CLUSTER, capacity=replace(CLUSTER.capacity, **changes))


def source(cluster: Cluster = CLUSTER) -> Source:
    """The capacity of a cluster."""
    return next(Account(clusters=(cluster,)).sources())


ROLLOUT = Account(clusters=(CLUSTER,))
REGION = Region(name="us-east-2", clusters=(CLUSTER,), qualifier="q")


class Client:
    """A client whose calls answer what they are told, and are counted."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(**_: Any) -> Any:
            self.asked.append(name)
            answer = self.answers[name]
            if isinstance(answer, Exception):
                raise answer
            return answer() if callable(answer) else answer

        return call


def reads_of(client: Any, *, seconds: float = 10.0) -> AwsReader:
    return AwsReader(lambda _service, _region: client, now=NOW, seconds=seconds)


def error(code: str, operation: str = "Any") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, operation)


def make(code: str, outcome: Outcome | Exception, *, after: tuple[str, ...] = ()) -> Check[Any, Any]:
    def evaluate(_: Any, __: Any) -> Outcome:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def subjects(account: Account) -> Iterable[Any]:
        return (account,) if code == "UC9401" else account.regions()

    return Check(code=code, subjects=subjects, gather=lambda _, __: None, evaluate=evaluate, after=after)


def run(*checks: Check[Any, Any], skip: tuple[str, ...] = (), seconds: float = 10.0) -> list[CheckResult]:
    return run_checks(ROLLOUT, reads_of(Client({}), seconds=seconds), checks=checks, skip=skip)


def statuses(results: list[CheckResult]) -> list[Status]:
    return [result.outcome.status for result in results]
