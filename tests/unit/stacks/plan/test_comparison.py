from tests.unit.stacks.plan.small_stacks import stack, topic

from ultracluster_stacks.plan import Action, StackState, StackTemplate, compare


def test_a_stack_is_new_same_changed_or_left() -> None:
    before = [stack("same", T=topic()), stack("changed", T=topic()), stack("left", T=topic())]
    after = [stack("same", T=topic()), stack("changed", T=topic(DisplayName="x")), stack("new", T=topic())]

    states = {one.name: one.state for one in compare(before, after).stacks}

    assert states == {
        "same": StackState.SAME,
        "changed": StackState.CHANGED,
        "new": StackState.NEW,
        "left": StackState.LEFT,
    }


def test_a_stack_of_the_same_name_in_another_region_is_another_one() -> None:
    one = stack(T=topic())
    other = StackTemplate(cluster="c", name="s", region="eu-north-1", template=one.template)

    assert [each.state for each in compare([one], [other]).stacks] == [StackState.NEW, StackState.LEFT]


def test_a_retained_resource_is_let_go_and_another_one_deleted() -> None:
    kept = topic() | {"DeletionPolicy": "Retain"}

    changes = compare([stack(A=topic(), B=kept, C=topic())], [stack(C=topic(), D=topic())]).stacks[0].changes

    assert [(one.logical_id, one.action, one.leaves_behind) for one in changes] == [
        ("D", Action.ADD, False),
        ("A", Action.REMOVE, False),
        ("B", Action.RETAIN, True),
    ]
    # Whoever retains a topic says that it holds something; one without the policy only tells people.
    assert [[str(stop.kind) for stop in one.stops] for one in changes] == [[], ["control"], ["data"]]
