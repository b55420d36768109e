"""A rehearsal is removed whatever happens to it, and its record says what was found."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.fake_clients import FakeClients
from tests.unit.cli.deploy.rehearsal_account import Account

from ultracluster_cli._aws.target import Target
from ultracluster_cli.deploy.rehearsal import AccountRehearsal, removed_at_the_end
from ultracluster_cli.exit_codes import CommandError
from ultracluster_runtime.preflight.check import Outcome, Status
from ultracluster_runtime.preflight.run import CheckResult
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.rehearsal import rehearsed


class Removed:
    """Stands in for a rehearsal; counts its removals."""

    def __init__(self, problem: str = "") -> None:
        self.times = 0
        self.problem = problem

    def remove(self) -> int:
        self.times += 1
        if self.problem:
            raise CommandError.message(self.problem)
        return 3


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_is_removed_after_an_error_and_after_ctrl_c(error: type[BaseException]) -> None:
    one, other = Removed(), Removed()
    rehearsals: Any = [one, other]

    with pytest.raises(error), removed_at_the_end(rehearsals):
        raise error

    assert (one.times, other.times) == (1, 1)


def test_is_removed_after_a_termination_signal() -> None:
    rehearsal = Removed()
    rehearsals: Any = [rehearsal]
    before = signal.getsignal(signal.SIGTERM)

    def terminate() -> None:
        with removed_at_the_end(rehearsals):
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()

    with pytest.raises(KeyboardInterrupt):
        terminate()

    assert rehearsal.times == 1
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_one_account_keeps_does_not_keep_the_others() -> None:
    one, other = Removed("a bucket stays"), Removed("a subnet stays")
    rehearsals: Any = [one, other]

    with pytest.raises(CommandError) as raised, removed_at_the_end(rehearsals):
        pass

    assert [finding.problem for finding in raised.value.findings] == ["a bucket stays", "a subnet stays"]


def result(code: str, status: Status, *key: str) -> CheckResult:
    return CheckResult(code=code, key=key, outcome=Outcome(status, "evidence"))


class Parameters(Account):
    """Keeps what is written to SSM."""

    def __init__(self) -> None:
        super().__init__()
        self.written: dict[str, Any] = {}

    def put_parameter(self, **given: Any) -> None:
        self.written[given["Name"].rpartition("/")[2]] = json.loads(given["Value"])


def rehearsal_of(rollout: Path, aws: Any) -> AccountRehearsal:
    clusters = load_rollout(rollout).config.clusters()
    target = Target(name="", local=False, environment={}, client=FakeClients(lambda *_: aws))
    return AccountRehearsal(
        target=target, clusters=clusters, rehearsals=[rehearsed(cluster) for cluster in clusters]
    )


def test_a_record_has_the_results_of_its_cluster_region_and_account(quickstart: Path) -> None:
    aws = Parameters()
    rehearsal = rehearsal_of(quickstart.with_name("two-waves.yaml"), aws)
    results = [
        result("UC9401", Status.PASS),
        result("UC9414", Status.FAIL, "us-east-2"),
        result("UC9712", Status.FAIL, "us-east-1", "rehearsal-canary"),
        result("UC9447", Status.PASS, "us-east-1", "canary", "image"),
        result("UC9444", Status.WARN, "us-east-1", "canary"),
    ]

    assert list(rehearsal.write_records(results)) == []

    assert aws.written["canary"]["failures"] == ["UC9712 evidence"]
    assert aws.written["canary"]["passed"] == 2
    assert aws.written["pretrain"]["failures"] == ["UC9414 evidence"]
    assert aws.written["finetune"]["failures"] == []
    assert len({record["digest"] for record in aws.written.values()}) == 3


def test_a_record_that_cannot_be_written_is_a_warning(quickstart: Path) -> None:
    (problem,) = rehearsal_of(quickstart, Account()).write_records([])

    assert problem.startswith("the record of quickstart could not be written")
    assert "AccessDenied" in problem
