"""`ultracluster deploy` reads its options and its rollout before anything is deployed."""

import io
import json
import shutil
import sys
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.plan.fake_project import TEMPLATE, edited, write_assembly

from ultracluster_cli.plan import planning
from ultracluster_cli.plan.account import ask_accounts

pytestmark = pytest.mark.slow


def test_json_is_the_only_thing_on_stdout(run: Run, project: Path) -> None:
    assert project.exists()

    told = json.loads(run("deploy", "--yes", "--json").stdout)

    assert told["clusters"] == []
    assert told["changed"] is True
    assert list(told["seconds"]) == ["cdk synth", "plan", "cdk deploy", "reading back", "in all"]


def test_mistakes_in_the_rollout_show_before_the_cdk_cli_starts(
    run: Run, project: Path, quickstart: Path
) -> None:
    (project / "rollout.yaml").write_text(quickstart.read_text().replace("nodes: 4", "nodes: -4"))

    outcome = run("deploy", "--yes")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC")
    assert not (project / "called-synth.json").exists()


def test_an_unknown_wave_is_rejected_with_the_known_ones(run: Run, project: Path) -> None:
    outcome = run("deploy", "--wave", "second", "--yes")

    assert outcome.code == 2
    assert outcome.stderr == ("error: unknown wave 'second'. Allowed: first.\n")
    assert not (project / "called-synth.json").exists()


def test_a_folder_without_an_app_is_refused(
    run: Run, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))

    outcome = run("deploy", "--yes")

    assert outcome.code == 2
    assert outcome.stderr.startswith("error: ")


def test_a_rollout_whose_order_is_not_bought_is_refused(run: Run, project: Path) -> None:
    text = (project / "rollout.yaml").read_text()
    (project / "rollout.yaml").write_text(text.replace("reservation_id: cr-", "order: december # cr-"))

    outcome = run("deploy", "--yes")

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC2220: ")
    assert not (project / "called-synth.json").exists()


def test_a_dangerous_change_is_stopped_as_by_plan_and_allowed_by_the_same_word(
    run: Run, project: Path
) -> None:
    shutil.rmtree(project / "new")
    write_assembly(project / "new", edited("LustreConfiguration.DeploymentType", "SCRATCH_2"))

    stopped = run("deploy", "--yes")

    assert stopped.code == 3
    assert "--allow replace:a-Storage/Files" in stopped.stdout
    assert not (project / "called-deploy.json").exists()
    assert not (project / "cdk.out").exists()
    assert run("deploy", "--yes", "--allow", "replace:a-Storage/Files").code == 0
    assert (project / "called-deploy.json").exists()


def test_a_change_in_an_account_needs_an_answer_and_no_change_needs_none(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    asked = run("deploy")

    assert asked.code == 1
    assert "Deploy this to account of None?" in asked.stderr
    assert not (project / "called-deploy.json").exists()

    shutil.rmtree(project / "new")
    write_assembly(project / "new", TEMPLATE)

    assert run("deploy").code == 0


def test_what_the_account_did_not_answer_is_deployed_only_by_name_or_by_somebody_who_was_asked(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "ask_accounts", ask_accounts)  # this account answers CloudFormation only

    unanswered = run("deploy", "--yes")

    assert unanswered.code == 5
    asked, remedy = unanswered.stderr.splitlines()[-2:]
    assert asked.startswith("The account could not be asked whether this holds: ")
    assert remedy.startswith("Nothing was changed, ")
    assert "--allow unanswered" in remedy
    assert not (project / "called-deploy.json").exists()
    assert not (project / "cdk.out").exists()

    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    refused = run("deploy")
    assert refused.code == 1
    assert "What the account did not answer is not known. Deploy this to account of None?" in refused.stderr
    assert not (project / "called-deploy.json").exists()

    assert run("deploy", "--yes", "--allow", "unanswered").code == 0
    assert (project / "called-deploy.json").exists()


def test_an_answer_that_is_not_needed_may_be_allowed(run: Run, project: Path) -> None:
    assert run("deploy", "--yes", "--allow", "unanswered").code == 0
    assert (project / "called-deploy.json").exists()
