"""`ultracluster deploy --local` with the real CDK CLI; test_rollout_command.py kills what deploys."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app_project import write_project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository's app, run in a folder of its own."""
    folder = tmp_path_factory.mktemp("project")
    write_project(folder)
    return folder


def command(*arguments: str) -> list[str]:
    return [
        sys.executable,
        "-c",
        "import sys; from ultracluster_cli.main import main; sys.exit(main())",
        *arguments,
    ]


def ultracluster(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def background(project: Path) -> Iterator[None]:
    """A local AWS in the background."""
    up = ultracluster(project, "local", "up")
    try:
        assert up.returncode == 0, up.stderr
        yield
    finally:
        ultracluster(project, "local", "down")


@pytest.fixture(scope="module")
def deployed(project: Path, background: None) -> dict[str, Any]:
    """The summary of a deployment."""
    del background
    outcome = ultracluster(project, "deploy", "--local", "--json")
    assert outcome.returncode == 0, outcome.stderr
    told: dict[str, Any] = json.loads(outcome.stdout)
    return told


def test_every_stack_is_complete(deployed: dict[str, Any]) -> None:
    (cluster,) = deployed["clusters"]

    assert [stack["name"].rpartition("-")[2] for stack in cluster["stacks"]] == [
        "Network",
        "Storage",
        "Cluster",
    ]
    assert {stack["status"] for stack in cluster["stacks"]} == {"CREATE_COMPLETE"}
    assert all(stack["resources"] > 3 for stack in cluster["stacks"])


def test_nothing_is_written_but_into_the_ignored_folders(project: Path, deployed: dict[str, Any]) -> None:
    assert deployed
    assert {path.name for path in project.iterdir()} == {
        ".ultracluster",
        "cdk.json",
        "cdk.out",
        "node_modules",
    }
    assert list((project / ".ultracluster" / "tmp").iterdir()) == []


@pytest.fixture(scope="module")
def twice(project: Path, deployed: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The summary of a second deployment to the same local AWS, and what was said meanwhile."""
    assert deployed
    again = ultracluster(project, "deploy", "--local", "--json")
    assert again.returncode == 0, again.stderr
    return json.loads(again.stdout), again.stderr


def test_a_second_deployment_to_the_same_local_aws_changes_nothing(twice: tuple[dict[str, Any], str]) -> None:
    told, said = twice

    assert told["changed"] is False
    assert said.count(": no changes") == 3
    (cluster,) = told["clusters"]
    assert {stack["status"] for stack in cluster["stacks"]} == {"CREATE_COMPLETE"}


def test_a_plan_reads_stacks_that_the_cdk_cli_has_deployed(
    project: Path, twice: tuple[dict[str, Any], str]
) -> None:
    assert twice
    rollout = Path(json.loads((project / "cdk.json").read_text())["context"]["rollout"])
    edited = project / ".ultracluster" / "edited.yaml"
    edited.write_text(rollout.read_text().replace("storage_capacity_gib: 4800", "storage_capacity_gib: 2400"))

    outcome = ultracluster(project, "plan", str(edited), "--local", "--json")

    assert outcome.returncode == 3, outcome.stderr
    stacks = {stack["name"].rpartition("-")[2]: stack for stack in json.loads(outcome.stdout)["stacks"]}
    assert {name: stack["state"] for name, stack in stacks.items()} == {
        "Network": "same",
        "Storage": "changed",
        "Cluster": "same",
    }
    (change,) = stacks["Storage"]["changes"]
    assert change["path"].endswith("/FileSystem/Resource")
    assert [(one["path"], one["before"], one["after"]) for one in change["properties"]] == [
        ("StorageCapacity", 4800, 2400)
    ]
