"""`ultracluster deploy --without-capacity` begins only with the right account, Region and a consent to the price."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.deploy.rehearsal_account import Account

from ultracluster_cli._aws import targets
from ultracluster_cli.deploy import rehearsal

READS = {"get_caller_identity", "describe_regions", "get_parameter"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path) -> Path:
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Account]:
    """Put an account behind the credentials."""

    def put(**answers: Any) -> Account:
        given = Account(**answers)
        monkeypatch.setattr(targets, "account", given.open)
        return given

    return put


def edit(project: Path, old: str, new: str) -> None:
    path = project / "rollout.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.usefixtures("project")
def test_without_credentials_nothing_begins(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)

    outcome = run("deploy", "--without-capacity", "--yes")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC9009: ")
    assert outcome.stderr.count("\n") == 1


def test_another_account_than_the_rollouts_is_refused(run: Run, project: Path, account: Any) -> None:
    edit(project, "        region: us-east-2", '        account: "210987654321"\n        region: us-east-2')
    aws = account()

    outcome = run("deploy", "--without-capacity", "--yes")

    assert outcome.code == 2
    assert [line.split(":")[0] for line in outcome.stderr.splitlines()] == ["warning", "UC9402"]
    assert set(aws.asked) <= READS


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("options", [["--yes"], ["--clean"]])
def test_a_region_that_is_not_enabled_is_refused(run: Run, account: Any, options: list[str]) -> None:
    aws = account(describe_regions={"Regions": [{"OptInStatus": "not-opted-in"}]})

    outcome = run("deploy", "--without-capacity", *options)

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC9404: us-east-2: it is not-opted-in")
    assert set(aws.asked) <= READS


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--cluster", "rollout.yaml: unknown cluster 'other'. Allowed: quickstart."),
        ("--wave", "error: unknown wave 'other'."),
    ],
)
def test_an_unknown_cluster_or_wave_is_refused(run: Run, account: Any, option: str, said: str) -> None:
    aws = account()

    outcome = run("deploy", "--without-capacity", option, "other", "--yes")

    assert (outcome.code, aws.asked) == (2, [])
    assert said in outcome.stderr


@pytest.mark.usefixtures("project")
def test_the_price_is_stated_and_declining_it_begins_nothing(
    run: Run, account: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = account()
    asked: list[str] = []

    def decline(question: str, **_: Any) -> None:
        asked.append(question)
        raise rehearsal.typer.Abort

    monkeypatch.setattr(rehearsal.typer, "confirm", decline)
    monkeypatch.setattr(rehearsal, "find_toolchain", lambda _: None)

    outcome = run("deploy", "--without-capacity")

    assert outcome.code == 1
    assert "The rehearsal costs at most" in outcome.stderr
    assert asked == ["Begin?"]
    assert set(aws.asked) <= READS | {"describe_stacks", "get_products"}


def test_what_is_left_out_is_said(
    run: Run, project: Path, account: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(project, "        notify:", "        checkpoints: {bucket_name: my-checkpoints}\n        notify:")
    account()
    monkeypatch.setattr(rehearsal, "find_toolchain", lambda _: None)

    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))

    assert (
        "quickstart: not rehearsed: links to existing buckets" in run("deploy", "--without-capacity").stderr
    )


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--clean"], "--clean needs --without-capacity"),
        (["--cluster", "a", "--no-file-system"], "--cluster, --no-file-system needs --without-capacity"),
        (["--qualifier", "hnb659fds"], "--qualifier needs --without-capacity"),
        (["--without-capacity", "--allow", "remove:A/B"], "--allow is not for --without-capacity"),
        (["--without-capacity", "--no-cache"], "--no-cache is not for --without-capacity"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(
    run: Run, account: Any, options: list[str], problem: str
) -> None:
    aws = account()

    outcome = run("deploy", *options)

    assert (outcome.code, aws.asked) == (2, [])
    assert problem in " ".join(outcome.stderr.split())
