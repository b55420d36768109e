"""The smoke training runs here under real torchrun on two nodes; a seeded fault of one rank is found."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.training.nodes import SCRIPTS, Job, environment_folder

pytestmark = pytest.mark.training

SMOKE = (SCRIPTS / "smoke_train.py").read_text()
# Faults of one rank, as a broken core or link makes them. They are put in before the job's own program, which is unchanged.
FAULTS = {
    "none": "",
    # A core that computes a little too much, everywhere.
    "core": "linear = torch.nn.functional.linear\n"
    "torch.nn.functional.linear = lambda *given: linear(*given) * (1 + 1e-6)",
    # A link that delivers another sum to this rank than to the others; it shows one step later.
    "link": "all_reduce = dist.all_reduce\n"
    "dist.all_reduce = lambda given: (all_reduce(given), given.mul_(1.001))",
}


@pytest.fixture
def smoke(tmp_path: Path) -> Iterator[Callable[[str], Job]]:
    made: list[Job] = []

    def start(fault: str) -> Job:
        seeded = "import os, torch, torch.distributed as dist\n"
        seeded += "".join(
            f"if os.environ['RANK'] == '3':\n    {line}\n" for line in FAULTS[fault].splitlines()
        )
        command = ["--no-python", "python3", "-c", seeded + SMOKE, "--device", "cpu", "--steps", "3"]
        made.append(Job(tmp_path / fault, "torchrun", command, nodes=2))
        made[-1].start(UC_PROCESSES_PER_NODE="2")
        return made[-1]

    yield start
    for each in made:
        each.close()


@pytest.mark.parametrize(
    ("fault", "codes", "said"),
    [
        ("none", [0, 0], ""),
        ("core", [1, 1], "step 0: the loss is"),
        ("link", [1, 1], "step 1: the loss is"),
    ],
)
def test_finds_the_rank_that_differs(
    smoke: Callable[[str], Job], fault: str, codes: list[int], said: str
) -> None:
    job = smoke(fault)
    assert job.wait() == codes, job.logs
    if fault == "none":
        assert "smoke train: passed" in job.log(0)
        assert "on all 4 ranks" in job.log(0)
    else:
        assert f"refused: {said}" in job.log(0)
        assert "on rank 3 (node 1, process 1)\n" in job.log(0)


def test_a_loss_that_is_not_a_number_is_named_too() -> None:
    ask = "import runpy, sys; judge = runpy.run_path(sys.argv[1])['judge']; print(judge([1.0, float('nan'), 1.0, float('inf')], 7))"
    done = subprocess.run(
        [environment_folder() / "python", "-c", ask, SCRIPTS / "smoke_train.py"],
        env={"LOCAL_WORLD_SIZE": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (
        "step 7: the loss is not a number on rank 1 (node 0, process 1), rank 3 (node 1, process 1)\n"
    )
