"""`ultracluster ami resolve` with replaced AMI lookup, without AWS."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from tests.fake_clients import FakeClients
from tests.unit.stacks.config.conftest import VALID

from ultracluster_cli._cdk import toolchain
from ultracluster_cli.ami import command as ami
from ultracluster_cli.main import main
from ultracluster_runtime.images import MachineImage

NEW = "ami-00000000000000001"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    questions: list[dict[str, Any]] = []

    def find_images(_: object, *, regions: list[str], **question: Any) -> dict[str, MachineImage]:
        questions.append(question)
        created = datetime(2026, 10, 30, tzinfo=UTC)
        return {
            region: MachineImage(region=region, image_id=NEW, name="new", created=created)
            for region in regions
        }

    monkeypatch.setattr(ami, "find_images", find_images)
    return questions


@pytest.fixture
def resolve(tmp_path: Path) -> Callable[..., int]:
    path = tmp_path / "rollout.yaml"
    path.write_text(VALID)
    return lambda *options: main(["ami", "resolve", str(path), *options])


def test_writes_the_file_only_with_write(
    asked: list[dict[str, Any]],
    resolve: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert resolve("--parameter", "/p") == 0
    out, err = capsys.readouterr()
    assert NEW in out
    assert "2026-10-30" in out
    assert err == "Nothing written; use --write to pin the rollout to these AMIs.\n"
    assert (tmp_path / "rollout.yaml").read_text() == VALID

    assert resolve("--baked", "nodes", "--write") == 0
    assert (tmp_path / "rollout.yaml").read_text() == VALID.replace("ami-0123456789abcdef0", f'"{NEW}"')
    assert [(one["parameter"], one["baked"]) for one in asked] == [("/p", None), (None, "nodes")]


def test_warns_about_incomplete_public_amis_but_not_about_private_ones(
    asked: list[dict[str, Any]], resolve: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert resolve("--image", "dlami/base/amazon-linux-2023", "--json") == 0
    parts, volume = json.loads(capsys.readouterr().out)["warnings"]
    assert parts.startswith("UC4058: dlami/base/amazon-linux-2023 is not known to include lustre-client")
    assert volume.startswith("UC2254: the root volume of train has 200 GiB")
    assert resolve("--baked", "nodes", "--json") == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == []
    assert len(asked) == 2


@pytest.mark.parametrize(("size", "warned"), [(476, True), (477, False)])  # 512 GB are 476.8 GiB
@pytest.mark.usefixtures("asked")
def test_warns_about_a_root_volume_that_is_too_small_for_a_dlami(
    size: int, *, warned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(
        VALID.replace("        jobs:\n", f"        root_volume: {{size_gib: {size}}}\n        jobs:\n")
    )

    assert main(["ami", "resolve", str(path), "--image", "dlami/base/amazon-linux-2023", "--json"]) == 0
    assert ("UC2254" in capsys.readouterr().out) == warned
    assert main(["ami", "resolve", str(path), "--json"]) == 0
    assert "UC2254" not in capsys.readouterr().out


TWO = VALID.replace(
    "        jobs:\n",
    """\
      - name: compare
        region: us-east-2
        zone_id: use2-az3
        instance_type: p5.48xlarge
        nodes: 1
        capacity: {market_type: on-demand}
        jobs:
""",
)


def test_keeps_the_ami_of_gpu_clusters_unless_specified(
    asked: list[dict[str, Any]],
    resolve: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(TWO)
    assert resolve("--write", "--json") == 0
    out = json.loads(capsys.readouterr().out)
    assert [row["cluster"] for row in out["clusters"]] == ["train"]
    assert out["warnings"][0].startswith("UC4059: compare is not updated: p5.48xlarge has")
    # Not into the defaults, from which the GPUs take theirs.
    assert "  image_id: ami-0123456789abcdef0\n" in path.read_text()
    assert path.read_text().count(NEW) == 1

    path.write_text(TWO)
    assert resolve("--parameter", "/gpu", "--cluster", "compare", "--write", "--json") == 0
    assert [row["cluster"] for row in json.loads(capsys.readouterr().out)["clusters"]] == ["compare"]
    assert path.read_text().count(NEW) == 1
    assert len(asked) == 2


def test_a_baked_ami_is_looked_up_in_the_account_of_each_cluster(
    monkeypatch: pytest.MonkeyPatch,
    resolve: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def find_images(client: Any, *, regions: list[str], **_: Any) -> dict[str, MachineImage]:
        created = datetime(2026, 10, 30, tzinfo=UTC)
        image = MachineImage(region=regions[0], image_id=f"of {client}", name="new", created=created)
        return dict.fromkeys(regions, image)

    monkeypatch.setattr(ami, "clients_of", lambda profile: profile)
    monkeypatch.setattr(ami, "find_images", find_images)
    path = tmp_path / "rollout.yaml"
    path.write_text(TWO.replace("- name: train\n", "- name: train\n        profile: production\n"))

    def found(*options: str) -> dict[str, str]:
        assert resolve("--baked", "nodes", "--json", *options) == 0
        return {row["cluster"]: row["image_id"] for row in json.loads(capsys.readouterr().out)["clusters"]}

    assert found() == {"train": "of production", "compare": "of None"}
    assert found("--profile", "one") == {"train": "of one", "compare": "of one"}


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (["--image", "own"], ["UC4050"]),
        (["--image", "ubuntu", "--baked", "nodes", "--parameter", "/p"], ["UC4050", "error"]),
        (["--profile", "nobody"], ["UC9009"]),
        (["--cluster", "train", "--cluster", "nobody"], ["error"]),
    ],
)
def test_rejects_invalid_options(
    asked: list[dict[str, Any]],
    resolve: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    codes: list[str],
) -> None:
    assert resolve(*options) == 2
    assert [line.partition(":")[0] for line in capsys.readouterr().err.splitlines()] == codes
    assert asked == []


class Builder:
    """EC2 Image Builder with a pipeline `nodes`, whose build ends in a state."""

    meta = SimpleNamespace(region_name="us-east-2")

    def __init__(self, end: str) -> None:
        self.states = ["BUILDING", "TESTING", end]
        self.started: list[str] = []

    def list_image_pipelines(self, *, filters: Any) -> Any:
        return {
            "imagePipelineList": [{"arn": "pipeline", "name": "nodes"}]
            if filters[0]["values"] == ["nodes"]
            else []
        }

    def start_image_pipeline_execution(self, **given: Any) -> Any:
        self.started.append(given["imagePipelineArn"])
        return {"imageBuildVersionArn": "build"}

    def get_image(self, **_: Any) -> Any:
        return {"image": {"state": {"status": self.states.pop(0), "reason": "a test failed"}}}


@pytest.fixture
def bake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, Builder]]:
    path = tmp_path / "rollout.yaml"
    path.write_text(VALID)
    monkeypatch.setattr(ami.time, "sleep", lambda _: None)

    def run(name: str, *options: str, end: str = "AVAILABLE") -> tuple[int, Builder]:
        builder = Builder(end)
        monkeypatch.setattr(ami, "clients_of", lambda _: FakeClients(lambda *_: builder))
        return main(["ami", "bake", name, str(path), "--yes", *options]), builder

    return run


def test_a_build_is_started_followed_and_pinned(
    asked: list[dict[str, Any]],
    bake: Callable[..., tuple[int, Builder]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, builder = bake("nodes", "--write")

    assert code == 0
    assert builder.started == ["pipeline"]
    err = capsys.readouterr().err
    assert [state for state in ("BUILDING", "TESTING", "AVAILABLE") if f": {state}\n" in err] == [
        "BUILDING",
        "TESTING",
        "AVAILABLE",
    ]
    assert [one["baked"] for one in asked] == ["nodes"]
    assert NEW in (tmp_path / "rollout.yaml").read_text()


def test_a_build_that_fails_pins_nothing_and_says_why(
    asked: list[dict[str, Any]],
    bake: Callable[..., tuple[int, Builder]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _ = bake("nodes", "--write", end="FAILED")

    assert code == 4
    assert "The build is FAILED: a test failed" in capsys.readouterr().err
    assert asked == []


def test_a_pipeline_that_cannot_be_created_is_not_started(
    asked: list[dict[str, Any]],
    bake: Callable[..., tuple[int, Builder]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    deployed: list[list[str]] = []
    monkeypatch.setattr(toolchain, "run_logged", lambda command, **_: deployed.append(command) or 1)

    code, builder = bake("other")

    assert code == 4
    assert "error: cdk deploy ended with code 1" in capsys.readouterr().err
    assert {"name=other", "region=us-east-2", f"parent={NEW}"} <= set(deployed[0])
    assert builder.started == []
    assert [one["image"] for one in asked] == ["ecs-neuron"]


@pytest.mark.parametrize(
    ("name", "question"),
    [("nodes", "In us-east-2, bake nodes?"), ("other", "In us-east-2, create its pipeline and bake other?")],
)
def test_the_question_before_a_build_tells_whether_it_creates_a_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, question: str
) -> None:
    questions: list[str] = []

    def decline(text: str, **_: Any) -> None:
        questions.append(text)
        raise typer.Abort

    builder = Builder("AVAILABLE")
    monkeypatch.setattr(ami, "clients_of", lambda _: FakeClients(lambda *_: builder))
    monkeypatch.setattr(ami.typer, "confirm", decline)
    (tmp_path / "rollout.yaml").write_text(VALID)

    assert main(["ami", "bake", name, str(tmp_path / "rollout.yaml")]) != 0
    assert [each.startswith(question) for each in questions] == [True]
    assert builder.started == []
