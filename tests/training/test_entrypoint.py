"""Four nodes train for real: they meet, write a checkpoint when told, lose a node, and go on as if nothing had been."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.training.nodes import Job, environment_folder

pytestmark = pytest.mark.training

HERE = Path(__file__).parent
COMMANDS = {
    "torchrun": [str(HERE / "train_torch.py")],
    "jax": ["python3", str(HERE / "train_jax.py")],
}
STEPS = 30


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Callable[..., Job]]:
    made: list[Job] = []

    def make(launcher: str, name: str) -> Job:
        made.append(Job(tmp_path / name, launcher, COMMANDS[launcher]))
        return made[-1]

    yield make
    for each in made:
        each.close()


def losses(job: Job) -> dict[int, str]:
    """The loss of each step, to the last bit; a step that was done again counts as it was the last time."""
    return {line["step"]: line["loss"] for line in lines(job)}


def lines(job: Job) -> list[dict[str, object]]:
    path = job.folder / "losses"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("launcher", ["torchrun", "jax"])
def test_a_run_that_lost_a_node_ends_as_one_that_did_not(job: Callable[..., Job], launcher: str) -> None:
    whole = job(launcher, "whole")
    whole.start()
    assert whole.wait() == [0, 0, 0, 0], whole.logs
    expected = losses(whole)
    assert sorted(expected) == list(range(STEPS))
    assert len(set(expected.values())) == STEPS  # it does learn
    assert not (whole.folder / "checkpoints").exists()  # nobody asked

    broken = job(launcher, "broken")
    broken.start(STEP_SECONDS="0.1")
    broken.wait_for(lambda: len(lines(broken)) > 2)
    broken.order_checkpoint()
    broken.wait_for(lambda: any(broken.folder.glob("checkpoints/*/COMPLETE")))
    (written,) = broken.folder.glob("checkpoints/*")
    at = int(written.name.removeprefix("step-"))
    broken.wait_for(lambda: len(lines(broken)) > at + 1)
    broken.lose(2)
    assert 0 not in broken.wait(), broken.logs  # no node takes it for a success
    assert 2 < at < len(lines(broken)) < STEPS
    assert "sent SIGUSR1 to 1 processes" in broken.log(0)
    # Another checkpoint was being written at that moment.
    torn = written.with_name(f"step-{STEPS - 1:012d}")
    torn.mkdir()
    (torn / "rank-0.pt").write_bytes(b"torn")

    broken.start()
    assert broken.wait() == [0, 0, 0, 0], broken.logs
    resumed = [line["step"] for line in lines(broken) if line["from"] == at]
    assert resumed == list(range(at, STEPS))
    assert losses(broken) == expected


def test_the_environment_has_no_library_of_aws() -> None:
    # What the tests show of checkpoints.py then holds in a training image.
    packages = {each.name for each in environment_folder().parent.glob("lib/python3*/site-packages/*")}
    assert "torch" in packages
    assert not {"boto3", "botocore", "ultracluster_catalog"} & packages
