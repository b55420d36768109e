"""`ultracluster init` from a checkout; tests/integration/test_wheel.py deploys what it writes, from the wheel."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.project.checked_projects import Run, check_project

from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.schema import schema_text


def test_writes_the_answers_to_a_valid_rollout(run: Run, tmp_path: Path) -> None:
    project = tmp_path / "new" / "project"

    outcome = run(
        "init", str(project), "--name=ours", "--region=ap-southeast-4", "--zone-id=apse4-az1",
        "--instance-type=trn1.32xlarge", "--nodes=2", "--reservation-id=cr-0123456789abcdef9",
        "--image-id=ami-0123456789abcdef9",
    )  # fmt: skip

    assert outcome.code == 0
    assert check_project(project)["rollout"] == "rollout.yaml"
    ((cluster,),) = (wave.clusters for wave in load_rollout(project / "rollout.yaml").config.waves)
    assert (cluster.name, cluster.region, cluster.zone_id) == ("ours", "ap-southeast-4", "apse4-az1")
    assert (cluster.instance_type, cluster.nodes, cluster.jobs[0].nodes) == ("trn1.32xlarge", 2, 2)
    assert cluster.capacity.reservation_id == "cr-0123456789abcdef9"
    assert cluster.image_id == "ami-0123456789abcdef9"
    assert "ap-southeast-4" in str(cluster.jobs[0].image)
    assert (project / "rollout.schema.json").read_text() == schema_text()
    assert "# REPLACE: your image" in (project / "rollout.yaml").read_text()  # comments stay


def test_uses_defaults_without_a_terminal(run: Run, tmp_path: Path) -> None:
    assert run("init", str(tmp_path / "p")).code == 0

    ((cluster,),) = (wave.clusters for wave in load_rollout(tmp_path / "p" / "rollout.yaml").config.waves)
    assert (cluster.name, cluster.nodes, cluster.instance_type) == ("training", 4, "trn2.48xlarge")


@pytest.mark.process
def test_prompts_for_missing_options_at_a_terminal(tmp_path: Path) -> None:
    person, terminal = pty.openpty()
    os.write(person, b"us-west-2\nusw2-az4\n\n7\n")  # an empty answer takes what is proposed
    done = subprocess.run(
        [sys.executable, "-m", "ultracluster_cli", "init", "p", "--instance-type", "trn1.32xlarge"],
        cwd=tmp_path,
        stdin=terminal,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    os.close(terminal)
    os.close(person)

    assert done.returncode == 0, done.stderr
    assert "Instance type" not in done.stderr  # an option said it
    ((cluster,),) = (wave.clusters for wave in load_rollout(tmp_path / "p" / "rollout.yaml").config.waves)
    assert (cluster.region, cluster.zone_id, cluster.name, cluster.nodes) == (
        "us-west-2",
        "usw2-az4",
        "training",
        7,
    )


def test_answers_that_make_no_valid_rollout_write_nothing(run: Run, tmp_path: Path) -> None:
    outcome = run("init", str(tmp_path / "p"), "--nodes", "0", "--region", "us-moon-1")

    assert outcome.code == 2
    assert "UC4101" in outcome.stderr
    assert "UC2102" in outcome.stderr
    assert not (tmp_path / "p").exists()


def test_a_folder_that_holds_something_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")

    for arguments in ([], ["--example", "own-app"]):
        outcome = run("init", str(tmp_path), *arguments)
        assert outcome.code == 2
        assert outcome.stderr.startswith("UC9207")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
