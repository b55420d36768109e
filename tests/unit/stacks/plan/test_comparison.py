"""Two versions of templates are compared: what an edit changes, and what a word allows."""

import json
from dataclasses import replace

import pytest
from tests.unit.stacks.plan.conftest import Stacks
from tests.unit.stacks.plan.edits import edited, kept
from tests.unit.stacks.plan.small_stacks import stack, topic

from ultracluster_stacks.plan import Action, StackState, StackTemplate, compare


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


pytestmark = pytest.mark.slow

ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
FILE_SYSTEM = "AWS::FSx::FileSystem"
LINK = "AWS::FSx::DataRepositoryAssociation"
NODES = "AWS::EC2::LaunchTemplate"
RESERVATION = "cr-0123456789abcdef0"
ANOTHER_RESERVATION = "cr-0fedcba9876543210"


def reversed_order(stacks: Stacks) -> None:
    for name in ("Network", "Storage", "Cluster"):
        template = stacks.named(name)
        for resource in template["Resources"].values():
            resource["Properties"] = dict(reversed(list(resource["Properties"].items())))


def other_spelling(stacks: Stacks) -> None:
    resources = stacks.properties(ENVIRONMENT)["ComputeResources"]
    resources["InstanceRole"] = {"Fn::GetAtt": ".".join(resources["InstanceRole"]["Fn::GetAtt"])}
    environment = stacks.properties("AWS::Lambda::Function", "ClusterBlockLifecycle")["Environment"][
        "Variables"
    ]
    environment["UC_TOPIC"] = {"Fn::Sub": "${" + environment["UC_TOPIC"]["Ref"] + "}"}


def test_property_order_and_spelling_are_not_changes(stacks: Stacks) -> None:
    changed = Stacks(stacks.stacks)
    reversed_order(changed)
    other_spelling(changed)

    assert all(not stack.changes for stack in compare(stacks.stacks, changed.stacks).stacks)


def test_a_word_allows_one_thing_and_not_what_would_fail(stacks: Stacks) -> None:
    changed = Stacks(stacks.stacks)
    changed.properties(FILE_SYSTEM)["FileSystemTypeVersion"] = "2.12"
    plan = compare(stacks.stacks, changed.stacks)
    (stop,) = plan.stops()

    assert stop.allow is not None
    assert stop.allow.startswith("change:quickstart-us-east-2-Storage/FileSystem")
    assert not plan.stopped([stop.allow])
    assert plan.stopped([stop.allow.replace("change", "replace")])

    changed.properties("AWS::EC2::Subnet")["CidrBlock"] = "10.0.8.0/21"
    plan = compare(stacks.stacks, changed.stacks)
    assert plan.stopped([stop.allow for stop in plan.stops() if stop.allow])


def test_a_new_subnet_reaches_what_other_stacks_put_into_it(stacks: Stacks) -> None:
    changed = Stacks(stacks.stacks)
    changed.properties("AWS::EC2::Subnet")["CidrBlock"] = "10.0.8.0/21"

    changes = {
        change.resource_type: change
        for stack in compare(stacks.stacks, changed.stacks).stacks
        for change in stack.changes
    }

    assert changes[FILE_SYSTEM].action is Action.REPLACE
    assert changes[FILE_SYSTEM].leaves_behind
    assert (
        changes[FILE_SYSTEM].properties[0].cause.startswith("quickstart-us-east-2-Network:ExportsOutputRef")
    )
    assert changes[LINK].action is Action.REPLACE
    assert changes[ENVIRONMENT].action is Action.REPLACE
    assert changes["AWS::Batch::JobQueue"].action is Action.UPDATE  # waiting jobs stay


def test_an_image_reaches_the_compute_environment_by_the_version_of_the_launch_template(
    stacks: Stacks,
) -> None:
    changed = Stacks(stacks.stacks)
    changed.properties(NODES)["LaunchTemplateData"]["ImageId"] = "ami-0fedcba9876543210"

    changes = {
        change.resource_type: change for change in compare(stacks.stacks, changed.stacks).stacks[2].changes
    }
    environment, template = changes[ENVIRONMENT], changes[NODES].logical_id

    assert [(one.path[-1], one.cause) for one in environment.properties] == [("Version", template)]
    assert environment.action is Action.REPLACE


def test_the_order_of_statements_stops_nothing(stacks: Stacks) -> None:
    changed = Stacks(stacks.stacks)
    for policy in changed.properties("AWS::IAM::Role", "ClusterBlockLifecycleRole")["Policies"]:
        for statement in reversed(policy["PolicyDocument"]["Statement"]):
            if isinstance(statement["Action"], list):
                statement["Action"].reverse()
        policy["PolicyDocument"]["Statement"].reverse()

    assert changed.stacks != stacks.stacks
    assert [*compare(stacks.stacks, changed.stacks).stops()] == []


def test_another_logical_id_is_a_new_file_system(stacks: Stacks) -> None:
    _, logical_id = stacks.find(FILE_SYSTEM)
    changed = [
        replace(one, template=json.loads(json.dumps(one.template).replace(f'"{logical_id}"', '"Another"')))
        for one in stacks.stacks
    ]

    assert {str(stop.kind) for stop in compare(stacks.stacks, changed).stops()} == {"data", "jobs", "refused"}


def test_another_reservation_stops_only_while_jobs_may_run_in_the_block() -> None:
    before = kept("watched")
    target = "LaunchTemplateData.CapacityReservationSpecification.CapacityReservationTarget"
    steps = [
        {"in": "ClusterNodes", "set": {f"{target}.CapacityReservationId": ANOTHER_RESERVATION}},
        {
            "in": "ClusterBlockLifecycleFunction",
            "set": {"Environment.Variables.UC_RESERVATION_ID": ANOTHER_RESERVATION},
        },
    ]
    after = edited(before, {"edits": steps})

    running, idle = compare(before, after), compare(before, after, idle_blocks=[RESERVATION])

    assert {stop.kind for stop in running.stops()} == {"jobs", "control", "capacity"}
    assert [*idle.stops()] == []
