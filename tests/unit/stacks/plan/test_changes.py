"""A plan says what changes where, and is stopped until each reason is allowed."""

from tests.unit.stacks.plan.small_stacks import stack, topic

from ultracluster_stacks.plan import compare


def test_a_stack_is_listed_with_its_region_and_its_new_size() -> None:
    before = [stack("left", A=topic()), stack("kept", A=topic(), B=topic()), stack("same", A=topic())]
    after = [stack("kept", A=topic()), stack("same", A=topic()), stack("new", A=topic(), B=topic())]

    facts = {one.name: (one.cluster, one.region, one.resources) for one in compare(before, after).stacks}

    assert facts == {
        "kept": ("c", "us-east-2", 1),
        "same": ("c", "us-east-2", 1),
        "new": ("c", "us-east-2", 2),
        "left": ("c", "us-east-2", 1),
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
