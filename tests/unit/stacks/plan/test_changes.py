"""A plan says what changes where, and is stopped until each reason is allowed."""

from tests.unit.stacks.plan.small_stacks import stack, topic

from ultracluster_stacks.plan import StackState, compare


def test_a_stack_is_listed_with_its_region_its_new_size_and_whether_it_changes() -> None:
    before = [stack("left", A=topic()), stack("less", A=topic(), B=topic()), stack("same", A=topic())]
    after = [stack("less", A=topic()), stack("same", A=topic()), stack("new", A=topic(), B=topic())]

    stacks = compare(before, after).stacks

    assert {(one.cluster, one.region) for one in stacks} == {("c", "us-east-2")}
    assert {one.name: (one.state, one.resources) for one in stacks} == {
        "less": (StackState.CHANGED, 1),
        "same": (StackState.SAME, 1),
        "new": (StackState.NEW, 2),
        "left": (StackState.LEFT, 1),
    }


def test_a_plan_is_stopped_until_each_reason_is_allowed_by_its_word() -> None:
    kept = topic() | {"DeletionPolicy": "Retain"}
    plan = compare([stack(A=kept, B=kept)], [stack(C=topic())])
    words = {stop.allow for stop in plan.stops() if stop.allow}

    assert words == {"remove:s/A", "remove:s/B"}
    assert plan.stopped()
    assert plan.stopped(["remove:s/A"])
    assert not plan.stopped(words)
    assert not compare([], [stack(C=topic())]).stopped()
