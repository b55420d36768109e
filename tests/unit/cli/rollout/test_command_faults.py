"""`ultracluster rollout` of three Regions is killed, meets another operator, and loses AWS: every stack is changed once.

CloudFormation, S3 and the CDK CLI are fakes in a folder that outlive the command, and CloudFormation finishes what a killed
command has begun.
"""

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from tests.fake_clients import FakeClients
from tests.unit.cli.rollout.rollout_simulation import CLUSTERS, Project, target

from ultracluster_cli._aws import targets
from ultracluster_cli._aws.target import Target
from ultracluster_cli.main import main
from ultracluster_cli.rollout import command
from ultracluster_runtime.rollout.decide import Kind
from ultracluster_runtime.rollout.journal import read_journal
from ultracluster_runtime.rollout.plan import DEPLOY

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("UC_FUZZ_SEED", "20261127"))
ARGUMENTS = ("rollout", "--yes", "--bake", "0")
LIFE_SECONDS = 1.5  # of a rollout that is not disturbed, about


class Operator:
    """A person, or a pipeline, with a folder of their own and the same account."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, *arguments: str) -> int:
        """Start the command in a process of its own, and return its ID."""
        process = os.fork()
        if process:
            return process
        try:
            os.chdir(self.folder)
            with Path("said.txt").open("a", encoding="utf-8") as said:
                sys.stdout = sys.stderr = said
                code = main([*ARGUMENTS, *arguments])
            os._exit(code)
        finally:
            os._exit(99)

    def finish(self) -> int:
        """Resume or start until the command has ended, as people do; return how often it was run."""
        for turn in range(1, 20):
            for arguments in (("--resume",), ()):
                _, status = os.waitpid(self.start(*arguments), 0)
                if os.waitstatus_to_exitcode(status) == 0:
                    return turn
                time.sleep(0.02)
        pytest.fail((self.folder / "said.txt").read_text())


def operations(project: Project) -> Counter[str]:
    """How often each cluster was changed, and how often CloudFormation refused."""
    log = project.folder / "aws" / "operations.log"
    return Counter(log.read_text().splitlines() if log.exists() else ())


def check(project: Project, *folders: Path) -> None:
    """Every stack was changed once and has its template, no lock is left, and no journal says what is not true."""
    assert operations(project) == {f"{name} begun": 1 for name in CLUSTERS}
    assert [project.there(name) for name in CLUSTERS] == ["one"] * 3
    assert list((project.folder / "s3").rglob("*.json")) == []
    for journal in (
        path for folder in folders for path in folder.glob(".ultracluster/rollouts/*/journal.jsonl")
    ):
        if b"\n" not in journal.read_bytes():
            continue
        read = read_journal(journal)
        deployed = {
            entry.cluster for entry in read.entries if (entry.kind, entry.step) == (Kind.PASSED, DEPLOY)
        }
        assert deployed <= set(CLUSTERS)
        if read.entries[-1].kind is Kind.FINISHED:
            assert deployed == {cluster.name for cluster in read.plan.clusters}


@pytest.fixture
def operators(project: Project, tmp_path_factory: pytest.TempPathFactory) -> tuple[Operator, Operator]:
    """Two operators with a folder each."""
    (project.folder / "seconds").write_text("0.1")
    other = tmp_path_factory.mktemp("other")
    for shared in (
        "aws",
        "s3",
        "cdk.json",
        "failing",
        "node_modules",
        "rollout.yaml",
        "seconds",
        "template.json",
    ):
        (other / shared).symlink_to(project.folder / shared)
    (project.folder / "s3").mkdir()
    return Operator(project.folder), Operator(other)


@pytest.mark.parametrize(
    "number", [*range(5), *(pytest.param(number, marks=pytest.mark.deep) for number in range(5, 100))]
)
def test_kill_9_at_any_instant_with_another_operator_changes_each_stack_once(
    project: Project, operators: tuple[Operator, Operator], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(command, "_POLL_SECONDS", 0.02)
    draw = random.Random(f"{SEED} {number}")  # noqa: S311 - to draw the same again
    killed, other = operators
    first = killed.start()
    second = None
    if draw.random() < 0.5:
        time.sleep(draw.uniform(0, 0.3))
        second = other.start()
    time.sleep(draw.uniform(0, LIFE_SECONDS))
    os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)
    if second is not None:
        os.waitpid(second, 0)

    killed.finish()
    other.finish()

    check(project, killed.folder, other.folder)


def test_of_two_operators_one_deploys_and_the_other_is_told_who(
    project: Project, operators: tuple[Operator, Operator]
) -> None:
    first, second = operators
    (project.folder / "seconds").write_text("0.5")  # so that one does not begin after the other has ended
    processes = [first.start(), second.start()]
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes)

    said = "".join((one.folder / "said.txt").read_text() for one in operators)
    assert codes == [0, 2], said
    assert "error: canary-us-east-1 is being deployed: `" in said
    check(project, first.folder, second.folder)


class FailingAws:
    """Clients of an account of which one call fails, or all from it on."""

    def __init__(self, failing: int, error: Exception, *, forever: bool) -> None:
        self.failing = failing
        self.error = error
        self.forever = forever
        self.calls = 0

    def wrap(self, client: Any) -> FakeClients:
        return FakeClients(lambda service, region: _Failing(client(service, region), self))

    def call(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == self.failing or (self.forever and self.calls > self.failing):
                raise self.error
            return function(*arguments, **named)

        return called


class _Failing:
    def __init__(self, client: Any, aws: FailingAws) -> None:
        self._client = client
        self._aws = aws

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._client, name)
        if name == "get_paginator":
            return lambda operation: _Failing(attribute(operation), self._aws)
        return self._aws.call(attribute) if callable(attribute) else attribute


EXPIRED: Any = {
    "Error": {"Code": "ExpiredToken", "Message": "The security token included in the request is expired"}
}
FAULTS = {
    "one request": (EndpointConnectionError(endpoint_url="https://aws"), False),
    "the network": (EndpointConnectionError(endpoint_url="https://aws"), True),
    "credentials": (ClientError(EXPIRED, "Call"), True),
}


CALLS = 30  # that a rollout of three Regions makes


@pytest.mark.parametrize("lost", FAULTS)
@pytest.mark.parametrize(
    "number",
    [
        number if number % 8 == 1 else pytest.param(number, marks=pytest.mark.deep)
        for number in range(1, CALLS + 1)
    ],
)
def test_whatever_call_fails_the_next_run_reads_the_state_rightly(
    project: Project, monkeypatch: pytest.MonkeyPatch, lost: str, number: int
) -> None:
    error, forever = FAULTS[lost]
    failing = FailingAws(number, error, forever=forever)

    def account(profile: str | None = None) -> Target:
        made = target(project.aws, profile=profile)
        return Target(
            name=made.name,
            local=False,
            environment=made.environment,
            client=failing.wrap(made.client),
            account=made.account,
        )

    monkeypatch.setattr(targets, "account", account)
    disturbed = project.rollout()
    made = failing.calls
    failing.failing, failing.forever = 0, False
    resumed = project.rollout("--resume")
    if resumed.code:
        resumed = project.rollout()

    assert made >= number
    assert disturbed.code in {0, 2, 4}, disturbed.stderr
    assert "Traceback" not in disturbed.stderr
    assert resumed.code == 0, disturbed.stderr + resumed.stderr
    check(project, project.folder)
