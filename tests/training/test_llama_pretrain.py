"""The example llama-pretrain at tiny size on CPUs: sharded over nodes, asked for a checkpoint, drained, and resumed on fewer nodes."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.training.nodes import ROOT, Job, environment_folder

pytestmark = pytest.mark.training

EXAMPLE = ROOT / "examples/llama-pretrain"


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    text, output = tmp_path / "text.txt", tmp_path / "tokens.bin"
    text.write_text("the quick brown fox jumps over the lazy dog\n" * 200)
    python = environment_folder() / "python3"
    subprocess.run([python, EXAMPLE / "prepare.py", text, "--output", output], check=True)
    assert output.stat().st_size == 4 * text.stat().st_size
    return output


@pytest.fixture
def job(tmp_path: Path, tokens: Path) -> Iterator[Callable[..., Job]]:
    made: list[Job] = []

    def make(name: str, *options: str, nodes: int) -> Job:
        shared = ["--config", str(EXAMPLE / "tiny.json"), "--data", str(tokens), "--device", "cpu"]
        places = ["--checkpoints", str(tmp_path / "checkpoints"), *options]
        made.append(
            Job(tmp_path / name, "torchrun", [str(EXAMPLE / "train.py"), *shared, *places], nodes=nodes)
        )
        return made[-1]

    yield make
    for each in made:
        each.close()


def start(job: Job) -> None:
    job.start(PYTHONPATH=str(ROOT / "constructs"), UC_CLUSTER="tiny", UC_JOB="pretrain")


def losses(job: Job) -> dict[int, float]:
    return {int(step): float(loss) for step, loss in re.findall(r"step (\d+) loss ([\d.]+)", job.log(0))}


def test_it_learns_writes_a_checkpoint_on_request_and_goes_on_with_fewer_nodes(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    first = job("first", "--step-seconds", "0.2", nodes=3)
    start(first)
    first.wait_for(lambda: len(losses(first)) > 3)
    first.order_checkpoint()
    first.wait_for(lambda: any((tmp_path / "checkpoints").glob("*/COMPLETE")))
    (written,) = (tmp_path / "checkpoints").iterdir()
    step = int(written.name.removeprefix("step-"))
    for index in range(3):
        first.lose(index)
    first.wait()
    assert 3 < step < 30

    second = job("second", nodes=2)
    start(second)
    assert second.wait() == [0, 0], second.logs
    assert f"from step {step}" in second.log(0)
    assert sorted(losses(second)) == list(range(step + 1, 31))
    assert losses(second)[30] < losses(first)[1] / 2
    assert "done after 30 steps" in second.log(0)
    assert '"Loss"' in second.log(0)  # metrics for CloudWatch
