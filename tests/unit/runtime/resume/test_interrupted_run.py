"""A run over two blocks with a node that refuses, a node that is lost, and the end of a block goes on by itself to its end."""

import pytest
from tests.unit.runtime.resume.interrupted_run import (
    CHECKPOINT_EVERY,
    NODES,
    STEPS,
    InterruptedRun,
    Story,
)

pytestmark = pytest.mark.slow  # ten hours, minute by minute


@pytest.fixture(scope="module")
def story() -> Story:
    return InterruptedRun().play()


def heard(story: Story, part: str) -> int:
    return sum(part in subject for _, subject, _ in story.notices)


def test_the_run_finishes_in_the_next_block_after_three_jobs(story: Story) -> None:
    assert [job for job, *_ in story.jobs] == ["11111111-0000", "22222222-0000", "33333333-0000"]
    assert [end.partition(" cr-")[0] for _, end, *_ in story.jobs] == [
        "Essential container in task exited",
        "ultracluster: Capacity Block",
        "SUCCEEDED",
    ]
    assert story.jobs[-1][3] == STEPS


def test_each_job_starts_at_the_last_checkpoint(story: Story) -> None:
    (_, _, _, lost), (_, _, after_loss, drained), (_, _, after_drain, _) = story.jobs
    assert after_loss == lost - lost % CHECKPOINT_EVERY
    # Before the drain the jobs are told, so that the checkpoint is younger than the time between two of them.
    assert after_loss % CHECKPOINT_EVERY == 0
    assert drained - 20 <= after_drain <= drained


def test_people_hear_of_the_refusal_the_loss_and_the_end_each_once(story: Story) -> None:
    assert heard(story, "refused to join") == 1
    (reason,) = [message for _, subject, message in story.notices if "refused to join" in subject]
    assert "15 of 16 Neuron devices" in reason
    assert heard(story, "node i-00000000000000003 was lost") == 1
    assert heard(story, "goes on: Capacity Block cr-0123456789abcdef0 ends") == 1
    assert heard(story, "has ended") == 2
    assert heard(story, "is closed") == 0


def test_every_paid_minute_is_accounted_for(story: Story) -> None:
    assert sum(story.minutes.values()) == NODES * 2 * 5 * 60
    assert story.minutes["trained"] == NODES * STEPS
    assert story.minutes["trained again later"] < NODES * (CHECKPOINT_EVERY + 20)
    assert story.minutes["after the drain"] == NODES * 2 * 40
    assert story.minutes["waiting for nodes"] <= NODES * 30


@pytest.mark.deep
def test_without_resume_the_run_ends_at_the_first_loss_and_people_hear_of_it() -> None:
    story = InterruptedRun(resume=0).play()
    assert len(story.jobs) == 1
    assert story.jobs[0][3] < STEPS
    assert heard(story, "ended: node i-00000000000000003 was lost") == 1


@pytest.mark.deep
def test_nodes_that_all_refuse_close_the_block_instead_of_a_loop() -> None:
    world = InterruptedRun(refusals=100, loses_a_node=False)
    story = world.play()
    refused = [node for node in world.nodes.values() if node.reason == "Client.InstanceInitiatedShutdown"]
    assert heard(story, ": node i-") == len(refused)
    assert heard(story, "is closed: 3 nodes refused to join") >= 1
    assert len(refused) <= 2 * (
        NODES + 3
    )  # in each of the two blocks, where minutes would allow for a hundred
