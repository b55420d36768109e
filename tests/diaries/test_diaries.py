"""The diaries of four people who tried it, typed again at a terminal of 80 columns.

Each test is a friction that they met: what they saw then fails it.
"""

import re
from collections.abc import Callable

import boto3
import pytest
from tests.diaries.terminal import COLUMNS, CTRL_C, Screen, Terminal, settled

from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG

pytestmark = pytest.mark.slow

Keeps = Callable[[str, Screen], None]


# The first hour


def test_init_checks_each_answer_and_proposes_the_folder(empty: Terminal, keeps: Keeps) -> None:
    screen = empty.type("init", answers=["trn2", "trn2.48xlarge", "", "", "ours", "4", "", ""])

    assert screen.code == 0, screen.text
    assert "UC4001" in screen.text
    assert (empty.folder / "ours" / "rollout.yaml").is_file()
    assert screen.widest <= COLUMNS
    keeps("init", screen)


# Every day


def test_status_is_one_screen(project: Terminal, keeps: Keeps) -> None:
    screen = project.type("status", "--local")

    assert screen.code == 0
    assert len(screen.text.splitlines()) <= 24
    assert screen.widest <= COLUMNS
    keeps("status", screen)


def test_a_job_is_listed_on_whole_lines_and_named_by_its_name(project: Terminal, keeps: Keeps) -> None:
    submitted = project.type("jobs", "submit", "quickstart", "pretrain", "--alone", "--local")
    assert submitted.code == 0, submitted.text
    (job,) = re.findall(r"[0-9a-f-]{36}", submitted.text)

    listed = project.type("jobs", "list", "quickstart", "--local")

    assert listed.text.count(job) == 1
    assert listed.widest <= COLUMNS
    assert not re.search(r"\d\d:\d\d:\d\d", listed.text)
    keeps("jobs-list", listed)
    assert project.type("jobs", "why", "pretrain", "--local").code in (0, 5)
    assert project.type("jobs", "stop", job[:8], "--now", "--local").code == 0


# At three in the morning


EXTEND = (
    "capacity extend more --reservation-id cr-0123456789abcdef0 --days 1 --region us-east-2 "
    "--ledger orders --ledger-region us-east-2"
)
QUESTIONS = (
    ("destroy", 1),
    ("deploy changed.yaml", 1),
    ("rollout changed.yaml", 1),
    ("deploy --without-capacity --no-file-system", 1),
    ("ami bake nodes --region us-east-2", 1),
    ("nodes replace NODE --region us-east-2", 1),
    (EXTEND, 4),
)
"""Every command that asks, but for init (test_bad_moments.py), with the number of its questions."""


@pytest.fixture(scope="module")
def signed_in(project: Terminal) -> Terminal:
    """A terminal with credentials of the account, with a node and a rollout file that would change something."""
    exported = dict(re.findall(r"^export (\w+)=(\S*)$", project.type("local", "env").text, re.MULTILINE))
    rollout = (project.folder / "rollout.yaml").read_text("utf-8")
    (project.folder / "changed.yaml").write_text(
        rollout.replace("resume: 10", "resume: 11"), encoding="utf-8"
    )
    return Terminal(project.folder, project._environment | exported)


@pytest.fixture(scope="module")
def node(signed_in: Terminal) -> str:
    """The ID of a node of the cluster."""
    environment = signed_in._environment
    ec2 = boto3.client(
        "ec2",
        region_name="us-east-2",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    tags = [{"ResourceType": "instance", "Tags": [{"Key": CLUSTER_TAG, "Value": "quickstart"}]}]
    launched = ec2.run_instances(
        ImageId="ami-0123456789abcdef0",
        InstanceType="m6i.large",
        MinCount=1,
        MaxCount=1,
        TagSpecifications=tags,
    )
    return str(launched["Instances"][0]["InstanceId"])


@pytest.mark.parametrize(
    ("typed", "answered"),
    [(typed, answered) for typed, questions in QUESTIONS for answered in range(questions)],
    ids=lambda value: str(value).partition(" --")[0],
)
def test_ctrl_c_at_a_question_changes_nothing(
    signed_in: Terminal, node: str, typed: str, answered: int
) -> None:
    before = signed_in.type("status").text
    given = ["quickstart", "", ""][:answered]

    screen = signed_in.type(*typed.replace("NODE", node).split(), answers=[*given, CTRL_C], seconds=120)

    assert screen.code == 1
    assert "Traceback" not in screen.text
    assert screen.text.rstrip().endswith("Aborted!")
    assert settled(signed_in.type("status").text) == settled(before)


# The last day: it runs last, since it deletes the cluster


def test_destroy_names_what_is_kept_and_succeeds(project: Terminal, keeps: Keeps) -> None:
    screen = project.type("destroy", "--local")

    assert screen.code == 0, screen.text
    assert "Kept; what costs is paid for until you delete it" in screen.text
    keeps("destroy", screen)
    assert "Nothing is deployed" in project.type("status", "--local").text
