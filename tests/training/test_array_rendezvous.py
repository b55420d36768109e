"""Four children of an array train for real: they meet, lose a node, meet again, and go on as if nothing had been."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.training.nodes import Job, NodeArray
from tests.training.test_entrypoint import COMMANDS, STEPS, lines, losses

from ultracluster.jobs.launcher import Launcher

pytestmark = pytest.mark.training

LOST = 112


@pytest.fixture
def jobs() -> Iterator[list[Job]]:
    started: list[Job] = []
    yield started
    for job in started:
        job.close()


@pytest.mark.parametrize("launcher", ["torchrun", "jax"])
def test_an_array_that_lost_a_node_and_was_drained_ends_as_a_multi_node_job_that_was_not(
    tmp_path: Path, jobs: list[Job], launcher: Launcher
) -> None:
    whole = Job(tmp_path / "whole", launcher, COMMANDS[launcher])
    node_array = NodeArray(tmp_path / "node_array", launcher, COMMANDS[launcher])
    jobs += [whole, node_array]
    whole.start()
    assert whole.wait() == [0, 0, 0, 0], whole.logs
    expected = losses(whole)

    node_array.start(STEP_SECONDS="0.2")
    node_array.wait_for(lambda: len(lines(node_array)) > 2)
    node_array.order_checkpoint()
    node_array.wait_for(lambda: any(node_array.folder.glob("checkpoints/*/COMPLETE")))
    (written,) = node_array.folder.glob("checkpoints/*")
    at = int(written.name.removeprefix("step-"))
    node_array.lose(2)
    codes = node_array.wait()
    # AWS Batch starts children that end so again; that of the lost host too.
    assert [code for index, code in enumerate(codes) if index != 2] == [LOST] * 3, node_array.logs

    (node_array.notices / "checkpoint").unlink()
    node_array.start(STEP_SECONDS="0.2")
    node_array.wait_for(lambda: any(line["from"] == at for line in lines(node_array)))
    node_array.order_checkpoint()  # the drain
    node_array.wait_for(lambda: len([*node_array.folder.glob("checkpoints/*/COMPLETE")]) > 1)
    for index in range(4):
        node_array.terminate(index)
    assert 0 not in node_array.wait(), node_array.logs

    # In the next block, as another job.
    (node_array.notices / "checkpoint").unlink()
    node_array.job_id = "9c1f2e0a-0000-4000-8000-000000000001"
    node_array.start()
    assert node_array.wait() == [0, 0, 0, 0], node_array.logs
    assert sorted(expected) == list(range(STEPS))
    assert losses(node_array) == expected
