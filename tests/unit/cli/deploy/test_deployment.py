"""`ultracluster deploy` with a fake CDK CLI (the real one: tests/integration)."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli._cdk.fake_cdk import install_cdk

from ultracluster_cli._aws.target import Target
from ultracluster_cli.deploy import command as deploy
from ultracluster_cli.deploy import deployment

pytestmark = pytest.mark.process

Run = Callable[..., Any]

FAKE_CDK = """\
import json, os, pathlib, sys
pathlib.Path("called.json").write_text(json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ)}))
with open("all-calls.jsonl", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
stage = pathlib.Path("cdk.out/assembly-a")
stage.mkdir(parents=True, exist_ok=True)
(stage.parent / "manifest.json").write_text(json.dumps({"artifacts": {"a": {
    "type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-a", "displayName": "a"}}}}))
(stage / "manifest.json").write_text(json.dumps({"artifacts": {"n": {
    "type": "aws:cloudformation:stack", "environment": "aws://1/us-east-2", "properties": {"stackName": "a-N"}}}}))
print("✨  Synthesis time: 1.5s")
print("a/N (a-N): deploying... [1/1]")
if os.environ.get("FAKE_FAILURE") == "silent":
    print("connect ECONNREFUSED 127.0.0.1:1")
    sys.exit(1)
if os.environ.get("FAKE_FAILURE"):
    print("a-N | 1/3 | 3:43:52 AM | CREATE_FAILED | AWS::S3::Bucket | B no such luck")
    sys.exit(1)
print("✅  a/N (a-N)")
print("✨  Deployment time: 0.5s")
"""


@contextmanager
def account(profile: str | None = None) -> Iterator[Target]:
    """Stands in for an account that credentials were found for."""
    yield Target(
        name=f"account of {profile}",
        local=False,
        environment=os.environ,
        client=lambda *_: profile,
        profile=profile,
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path) -> Path:
    """A project whose CDK CLI is a fake, in the current folder; what would be read back is nothing."""
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": "rollout.yaml"}}))
    (tmp_path / "rollout.yaml").write_text(quickstart.read_text())
    install_cdk(tmp_path, FAKE_CDK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(deployment, "read_clusters", lambda stacks, **_: list(stacks)[:0])
    monkeypatch.setattr(deploy, "account", account)
    return tmp_path


def called(project: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((project / "called.json").read_text())
    return told


def test_deploys_the_rollout_of_cdk_json_and_reports_each_step(run: Run, project: Path) -> None:
    outcome = run("deploy", "--yes")

    assert outcome.code == 0
    assert called(project)["arguments"][:2] == ["deploy", "**"]
    assert f"rollout={project / 'rollout.yaml'}" in called(project)["arguments"]
    assert "Synthesized in 1.5 s" in outcome.stderr
    assert "a/N: deployed, 0.5 s" in outcome.stderr
    assert "cdk deploy" in outcome.stdout


@pytest.mark.parametrize(("options", "told"), [([], False), (["--no-cache"], True)])
def test_unchanged_clusters_are_synthesized_only_with_no_cache(
    run: Run, project: Path, options: list[str], told: bool
) -> None:
    run("deploy", "--yes", *options)

    assert ("cache=false" in called(project)["arguments"]) == told


def test_widened_permissions_need_approval_unless_yes_is_specified(run: Run, project: Path) -> None:
    run("deploy", "--yes")

    arguments = called(project)["arguments"]
    assert arguments[arguments.index("--require-approval") + 1] == "never"


def test_on_a_real_account_the_cdk_cli_asks_at_the_terminal(run: Run, project: Path) -> None:
    outcome = run("deploy")

    arguments = called(project)["arguments"]
    assert arguments[arguments.index("--require-approval") + 1] == "broadening"
    assert "deploying... [1/1]" in outcome.stdout  # the CDK CLI has our own terminal
    assert not (project / ".ultracluster" / "logs").exists()


def test_credentials_reach_the_cdk_cli_on_a_real_account(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "training")

    run("deploy", "--yes")

    environment = called(project)["environment"]
    assert environment["AWS_PROFILE"] == "training"
    python = shutil.which("python3", path=environment["PATH"])
    assert python is not None
    assert Path(python).parent == Path(sys.executable).parent
    assert Path(environment["TMPDIR"]).is_relative_to(project)
    assert list((project / ".ultracluster" / "tmp").iterdir()) == []  # removed with what was in it


def test_a_wave_is_passed_on(run: Run, project: Path) -> None:
    assert run("deploy", "rollout.yaml", "--wave", "first", "--yes").code == 0

    assert "wave=first" in called(project)["arguments"]


def test_json_is_the_only_thing_on_stdout(run: Run, project: Path) -> None:
    assert project.exists()

    told = json.loads(run("deploy", "--yes", "--json").stdout)

    assert told["clusters"] == []
    assert told["changed"] is True
    assert list(told["seconds"]) == ["cdk deploy", "reading back", "in all"]


def test_mistakes_in_the_rollout_show_before_the_cdk_cli_starts(
    run: Run, project: Path, quickstart: Path
) -> None:
    (project / "rollout.yaml").write_text(quickstart.read_text().replace("nodes: 4", "nodes: -4"))

    outcome = run("deploy", "--yes")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC")
    assert not (project / "called.json").exists()


def test_an_unknown_wave_is_rejected_with_the_known_ones(run: Run, project: Path) -> None:
    outcome = run("deploy", "--wave", "second", "--yes")

    assert outcome.code == 2
    assert outcome.stderr == ("UC9008: unknown wave 'second'. Allowed: first.\n")
    assert not (project / "called.json").exists()


def test_a_folder_without_an_app_is_refused(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "elsewhere").mkdir()
    monkeypatch.chdir(project / "elsewhere")

    outcome = run("deploy", "--yes")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC9001: ")


def test_a_failure_names_its_cause_and_the_log(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FAILURE", "1")

    outcome = run("deploy", "--yes")

    log = project / ".ultracluster" / "logs" / "cdk-deploy.log"
    assert outcome.code == 4
    assert "CREATE_FAILED | AWS::S3::Bucket | B no such luck" in outcome.stderr
    assert f"UC9006: cdk deploy ended with code 1; see {log}" in outcome.stderr
    assert "no such luck" in log.read_text()
    assert outcome.stdout == ""


def test_an_unrecognized_failure_shows_the_last_lines(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project.exists()
    monkeypatch.setenv("FAKE_FAILURE", "silent")

    assert "  | connect ECONNREFUSED 127.0.0.1:1\n" in run("deploy", "--yes").stderr


def test_a_failure_of_an_interactive_deployment_is_a_finding(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project.exists()
    monkeypatch.setenv("FAKE_FAILURE", "1")

    outcome = run("deploy")

    assert outcome.code == 4
    assert "UC9006: cdk deploy ended with code 1" in outcome.stderr


def test_clusters_of_several_profiles_are_deployed_one_profile_after_the_other(
    run: Run, project: Path, quickstart: Path
) -> None:
    text = (quickstart.parent / "two-waves.yaml").read_text()
    named = text.replace(
        "      - name: pretrain\n        region",
        "      - name: pretrain\n        profile: production\n        region",
    )
    assert named != text
    (project / "rollout.yaml").write_text(named)

    outcome = run("deploy", "--yes")

    assert outcome.code == 0
    assert "account of None; account of production" in outcome.stderr
    own, production = (json.loads(line) for line in (project / "all-calls.jsonl").read_text().splitlines())
    assert own[1:3] == ["canary-us-east-1/**", "finetune-ap-southeast-4/**"]
    assert "--profile" not in own
    assert [each for each in production if each.endswith("/**")] == ["pretrain-us-east-2/**"]
    assert production[production.index("--profile") + 1] == "production"


def test_clusters_of_one_profile_are_deployed_at_once(run: Run, project: Path, quickstart: Path) -> None:
    text = (quickstart.parent / "two-waves.yaml").read_text()
    (project / "rollout.yaml").write_text(
        text.replace("defaults:\n", "defaults:\n  profile: production\n", 1)
    )

    assert run("deploy", "--yes").code == 0

    (arguments,) = (json.loads(line) for line in (project / "all-calls.jsonl").read_text().splitlines())
    assert arguments[:2] == ["deploy", "**"]
    assert arguments[arguments.index("--profile") + 1] == "production"
