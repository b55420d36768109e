"""Four children of an array train for real: they meet, lose a node, meet again, and go on as if nothing had been."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.training.nodes import Gang, Job
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
def test_a_gang_that_lost_a_node_and_was_drained_ends_as_a_multi_node_job_that_was_not(
    tmp_path: Path, jobs: list[Job], launcher: Launcher
) -> None:
    whole = Job(tmp_path / "whole", launcher, COMMANDS[launcher])
    gang = Gang(tmp_path / "gang", launcher, COMMANDS[launcher])
    jobs += [whole, gang]
    whole.start()
    assert whole.wait() == [0, 0, 0, 0], whole.logs
    expected = losses(whole)

    gang.start(STEP_SECONDS="0.2")
    gang.wait_for(lambda: len(lines(gang)) > 2)
    gang.order_checkpoint()
    gang.wait_for(lambda: any(gang.folder.glob("checkpoints/*/COMPLETE")))
    (written,) = gang.folder.glob("checkpoints/*")
    at = int(written.name.removeprefix("step-"))
    gang.lose(2)
    codes = gang.wait()
    # AWS Batch starts children that end so again; that of the lost host too.
    assert [code for index, code in enumerate(codes) if index != 2] == [LOST] * 3, gang.logs

    (gang.orders / "checkpoint").unlink()
    gang.start(STEP_SECONDS="0.2")
    gang.wait_for(lambda: any(line["from"] == at for line in lines(gang)))
    gang.order_checkpoint()  # the drain
    gang.wait_for(lambda: len([*gang.folder.glob("checkpoints/*/COMPLETE")]) > 1)
    for index in range(4):
        gang.terminate(index)
    assert 0 not in gang.wait(), gang.logs

    # In the next block, as another job.
    (gang.orders / "checkpoint").unlink()
    gang.job_id = "9c1f2e0a-0000-4000-8000-000000000001"
    gang.start()
    assert gang.wait() == [0, 0, 0, 0], gang.logs
    assert sorted(expected) == list(range(STEPS))
    assert losses(gang) == expected
