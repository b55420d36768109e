"""`ultracluster init` from a checkout; tests/integration/test_wheel.py deploys what it writes, from the wheel."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.cli.conftest import Run
from tests.unit.cli.project.checked_projects import check_project

from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.schema import schema_text


def test_writes_the_answers_to_a_valid_rollout(run: Run, tmp_path: Path) -> None:
    project = tmp_path / "new" / "project"

    outcome = run(
        "init", str(project), "--name=ours", "--region=ap-southeast-4", "--zone-id=apse4-az1",
        "--instance-type=trn1.32xlarge", "--nodes=2", "--reservation-id=cr-0123456789abcdef9",
        "--image-id=ami-0123456789abcdef9", "--launched-by=auto-scaling",
    )  # fmt: skip

    assert outcome.code == 0
    assert check_project(project)["rollout"] == "rollout.yaml"
    ((cluster,),) = (wave.clusters for wave in load_rollout(project / "rollout.yaml").config.waves)
    assert (cluster.name, cluster.region, cluster.zone_id) == ("ours", "ap-southeast-4", "apse4-az1")
    assert (cluster.instance_type, cluster.nodes, cluster.jobs[0].nodes) == ("trn1.32xlarge", 2, 2)
    assert cluster.capacity.reservation_id == "cr-0123456789abcdef9"
    assert cluster.capacity.launched_by == "auto-scaling"
    assert cluster.image_id == "ami-0123456789abcdef9"
    assert "ap-southeast-4" in str(cluster.jobs[0].image)
    assert (project / "rollout.schema.json").read_text() == schema_text()
    assert "# REPLACE: your image" in (project / "rollout.yaml").read_text()  # comments stay


def test_uses_defaults_without_a_terminal(run: Run, tmp_path: Path) -> None:
    assert run("init", str(tmp_path / "p")).code == 0

    ((cluster,),) = (wave.clusters for wave in load_rollout(tmp_path / "p" / "rollout.yaml").config.waves)
    assert (cluster.name, cluster.nodes, cluster.instance_type) == ("training", 4, "trn2.48xlarge")
    assert "launched_by" not in (tmp_path / "p" / "rollout.yaml").read_text()


def answer(folder: Path, answers: bytes, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `ultracluster init` at a terminal where these answers are typed."""
    person, terminal = pty.openpty()
    os.write(person, answers)
    try:
        return subprocess.run(
            [sys.executable, "-m", "ultracluster_cli", "init", *arguments],
            cwd=folder,
            stdin=terminal,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        os.close(terminal)
        os.close(person)


def cluster_in(project: Path) -> tuple[Any, ...]:
    ((cluster,),) = (wave.clusters for wave in load_rollout(project / "rollout.yaml").config.waves)
    return cluster.instance_type, cluster.region, cluster.zone_id, cluster.name, cluster.nodes


@pytest.mark.slow
def test_prompts_for_missing_options_at_a_terminal(tmp_path: Path) -> None:
    # An empty answer takes what is proposed.
    done = answer(tmp_path, b"us-west-2\nusw2-az4\n\n7\n\n", "p", "--instance-type", "trn1.32xlarge")

    assert done.returncode == 0, done.stderr
    assert "Instance type" not in done.stderr  # an option said it
    assert cluster_in(tmp_path / "p") == ("trn1.32xlarge", "us-west-2", "usw2-az4", "training", 7)


@pytest.mark.slow
def test_an_answer_is_checked_when_it_is_given_and_asked_for_again(tmp_path: Path) -> None:
    typed = b"trn2\ntrn2.48xlarge\nus-esat-2\nus-east-2\nusw2-az1\n2\nX y\nours\n0\n8\nspot\n2\n\n"

    done = answer(tmp_path, typed)

    assert done.returncode == 0, done.stderr
    for said in ("UC4001: ", "UC2102: got 'us-esat-2'", "UC3102: ", "UC2101: ", "UC4101: ", "got 'spot'"):
        assert said in done.stderr
    # The numbers are those of the lists, and the folder is proposed: the name of the cluster.
    zones = re.search(r"Zone ID of the capacity: 1 (\S+), 2 ([^,\s]+)", done.stderr)
    assert zones is not None
    assert cluster_in(tmp_path / "ours") == ("trn2.48xlarge", "us-east-2", zones[2], "ours", 8)
    assert "no published run shows batch with trn2.48xlarge" in done.stderr
    assert 'launched_by: "auto-scaling"' in (tmp_path / "ours" / "rollout.yaml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "kept"), [("\x04", False), ("\n\x04", True), ("\n\n\n\n\n\x04", True)])
def test_an_end_at_any_question_makes_no_project(tmp_path: Path, typed: str, *, kept: bool) -> None:
    interrupted = answer(tmp_path, typed.encode())

    assert interrupted.returncode == 1
    assert "Traceback" not in interrupted.stderr
    assert ("Your answers are kept" in interrupted.stderr) is kept
    assert [path.name for path in tmp_path.iterdir()] == ([".ultracluster"] if kept else [])


@pytest.mark.slow
def test_answers_survive_an_interruption(tmp_path: Path) -> None:
    interrupted = answer(tmp_path, b"trn1.32xlarge\nus-west-2\n\x04")

    assert interrupted.returncode == 1
    assert "Your answers are kept" in interrupted.stderr
    assert [path.name for path in tmp_path.iterdir()] == [".ultracluster"]

    done = answer(tmp_path, b"\n\n\n\n\n\n\n")

    assert done.returncode == 0, done.stderr
    assert "your answers of last time" in done.stderr
    assert cluster_in(tmp_path / "training")[:2] == ("trn1.32xlarge", "us-west-2")
    assert not (tmp_path / ".ultracluster" / "init.json").exists()


def test_pipelines_test_plan_and_deploy_without_a_stored_key(run: Run, tmp_path: Path) -> None:
    assert run("init", str(tmp_path / "p")).code == 0
    github = yaml.safe_load((tmp_path / "p" / ".github/workflows/ci.yaml").read_text())
    gitlab = yaml.safe_load((tmp_path / "p" / ".gitlab-ci.yml").read_text())

    assert list(github["jobs"]) == ["test", "plan", "deploy"]
    assert {github["jobs"][job]["permissions"]["id-token"] for job in ("plan", "deploy")} == {"write"}
    assert github["permissions"] == {"contents": "read"}
    assert "ultracluster plan --markdown" in str(github["jobs"]["plan"])
    assert "ultracluster deploy --yes" in str(github["jobs"]["deploy"])
    assert {"test", "plan", "deploy"} <= set(gitlab)
    assert gitlab["plan"]["extends"] == gitlab["deploy"]["extends"] == ".aws"
    assert "id_tokens" in gitlab[".aws"]
    assert "secrets." not in str(github)


def test_answers_that_make_no_valid_rollout_write_nothing(run: Run, tmp_path: Path) -> None:
    outcome = run("init", str(tmp_path / "p"), "--nodes", "0", "--region", "us-moon-1")

    assert outcome.code == 2
    assert "UC4101" in outcome.stderr
    assert "UC2102" in outcome.stderr
    assert "rollout.yaml:" not in outcome.stderr  # no place in a file that does not exist
    assert not (tmp_path / "p").exists()


def test_a_folder_that_holds_something_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")

    for arguments in ([], ["--example", "own-app"]):
        outcome = run("init", str(tmp_path), *arguments)
        assert outcome.code == 2
        assert outcome.stderr.startswith("error: ")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
