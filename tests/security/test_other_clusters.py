"""What each role could do to another cluster of its account: what our policies say, and the table of the page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.security.judged_roles import actions_of_aws, judged
from tests.security.roles import ROLES, SUBMITTERS
from tests.security.templates import ACCOUNT, REGION, Template
from tests.unit.ultracluster.iam_evaluation import Context, allows, as_list

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "security.md"
_HERE = f"{REGION}:{ACCOUNT}"
_CLUSTER = f"arn:aws:ecs:{_HERE}:cluster/AWSBatch-Theirs-0a1b"
_TAGS = {"ultracluster:cluster": "theirs", "ultracluster:capacity-reservation": "cr-0fedcba9876543210"}
_ORDER = {"aws:RequestTag/uc:po": "december", "aws:ResourceTag/uc:po": "december"}
# The tags of the other cluster, and what a caller chooses as it likes.
_TAGGED: Context = {
    **{f"aws:ResourceTag/{key}": value for key, value in _TAGS.items()},
    **{f"ssm:resourceTag/{key}": value for key, value in _TAGS.items()},
    **_ORDER,
    "ec2:InstanceCount": 1,
    "ec2:InstanceType": "trn2.48xlarge",
    "ec2:Region": REGION,
    "ecs:cluster": _CLUSTER,
}
_JOB = f"arn:aws:batch:{_HERE}:job/01234567-89ab-cdef-0123-456789abcdef"
THEIRS: Sequence[tuple[str, Context]] = [
    *(
        (arn, _TAGGED)
        for arn in (
            f"arn:aws:autoscaling:{_HERE}:autoScalingGroup:0a1b:autoScalingGroupName/Theirs",
            f"arn:aws:batch:{_HERE}:compute-environment/Theirs",
            f"arn:aws:batch:{_HERE}:job-definition/Theirs:1",
            f"arn:aws:batch:{_HERE}:job-queue/Theirs",
            f"arn:aws:dynamodb:{_HERE}:table/Theirs",
            f"arn:aws:ec2:{_HERE}:capacity-reservation/cr-0fedcba9876543210",
            f"arn:aws:ec2:{_HERE}:instance/i-0fedcba9876543210",
            f"arn:aws:ecr:{_HERE}:repository/theirs",
            _CLUSTER,
            f"arn:aws:ecs:{_HERE}:container-instance/AWSBatch-Theirs-0a1b/0a1b",
            f"arn:aws:iam::{ACCOUNT}:role/Theirs",
            f"arn:aws:kms:{_HERE}:key/theirs",
            f"arn:aws:logs:{_HERE}:log-group:Theirs:*",
            "arn:aws:s3:::theirs",
            "arn:aws:s3:::theirs/neuron/x",
            f"arn:aws:sns:{_HERE}:Theirs",
            f"arn:aws:ssm:{_HERE}:parameter/ultracluster/rehearsals/theirs",
        )
    ),
    (_JOB, _TAGGED),
    (_JOB, {}),
]

# The agents of Systems Manager: AWS takes the instance from the credentials.
_OF_ITSELF = ("ssmmessages:", "ec2messages:")
_READS = ("Describe", "List", "Get", "Query", "Scan", "Discover", "BatchGet", "BatchCheck", "Poll")


def _reach(statements: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The actions on anything of the other cluster, or on nothing in particular."""
    named = {action for each in statements if each["Effect"] == "Allow" for action in as_list(each["Action"])}
    for action in sorted(named):
        service, _, name = action.partition(":")
        takes = actions_of_aws()[service]["Actions"][name.lower()].get("Resources")
        on = THEIRS if takes else [("*", _TAGGED)]
        if not action.startswith(_OF_ITSELF) and any(allows(statements, action, *each) for each in on):
            yield action


def _reached(templates: list[Template]) -> dict[str, set[str]]:
    """The actions that change something of another cluster, by the description of the role."""
    found: dict[str, set[str]] = {each: set() for each in ROLES if each != SUBMITTERS}
    for _, _, description, statements in judged(templates):
        if description in found:
            changes = (each for each in _reach(statements) if not each.partition(":")[2].startswith(_READS))
            found[description].update(changes)
            found[description].update(filter(None, [ROLES[description].managed]))
    return found


def _said() -> dict[str, tuple[set[str], str]]:
    """The table of the page: actions and the reason, by role."""
    section = PAGE.read_text("utf-8").partition("### What a role could do to another cluster")[2]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|([^|]*)\|$", section.partition("\n#")[0], re.MULTILINE)
    return {
        role: (set(re.findall(r"`([^`]+)`", cell)), reason.strip())
        for role, cell, reason in rows
        if role in ROLES
    }


def test_the_page_says_what_each_role_could_do_to_another_cluster(templates: list[Template]) -> None:
    reached = _reached(templates)
    for role, actions in reached.items():
        print(f"{role}: {', '.join(sorted(actions)) or 'nothing'}")  # noqa: T201 - for who asks with -s

    changing = {role: actions for role, actions in reached.items() if actions}
    assert {role: actions for role, (actions, _) in _said().items()} == changing


def test_every_row_has_actions_and_a_reason() -> None:
    assert len(_said()) >= 5
    assert {role for role, (actions, reason) in _said().items() if not (actions and reason)} == set()


def _statements(templates: list[Template], stage: str, beginning: str) -> list[list[dict[str, Any]]]:
    found = [
        statements
        for template, _, description, statements in judged(templates)
        if template.name.startswith(stage) and description.startswith(beginning)
    ]
    assert found
    return found


@pytest.mark.parametrize("stage", ["bounded", "usual", "joined", "Others"])
@pytest.mark.parametrize("action", ["RegisterContainerInstance", "SubmitTaskStateChange"])
def test_a_node_reports_to_its_own_cluster_only(templates: list[Template], stage: str, action: str) -> None:
    for statements in _statements(templates, stage, "Nodes of the cluster"):
        own = [
            each.replace("-*", "-0a1b")
            for statement in statements
            if f"ecs:{action}" in as_list(statement["Action"])
            for each in as_list(statement["Resource"])
        ]
        assert len(own) == 1
        assert allows(statements, f"ecs:{action}", own[0])
        assert not allows(statements, f"ecs:{action}", _CLUSTER)
        assert not allows(statements, f"ecs:{action}", f"arn:aws:ecs:{_HERE}:cluster/production")
        for asked in ("Poll", "StartTelemetrySession", "UpdateContainerInstancesState"):
            node = f"arn:aws:ecs:{_HERE}:container-instance/any/0a1b"
            assert allows(statements, f"ecs:{asked}", node, {"ecs:cluster": own[0]})
            assert not allows(statements, f"ecs:{asked}", node, {"ecs:cluster": _CLUSTER})
            assert not allows(statements, f"ecs:{asked}", node)
        assert not allows(statements, "ecs:DeregisterContainerInstance", own[0])


@pytest.mark.parametrize("stage", ["bounded", "joined"])
def test_a_life_cycle_ends_no_job_that_is_tagged_with_another_cluster(
    templates: list[Template], stage: str
) -> None:
    (statements,) = _statements(templates, stage, "Opens, drains")
    tag = "aws:ResourceTag/ultracluster:cluster"
    assert allows(statements, "batch:TerminateJob", _JOB)
    assert allows(statements, "batch:TerminateJob", _JOB, {tag: stage})
    assert not allows(statements, "batch:TerminateJob", _JOB, {tag: "theirs"})
