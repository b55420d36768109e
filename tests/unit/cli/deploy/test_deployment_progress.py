"""The CDK CLI's words, recorded from `cdk deploy "**" --progress events` of version 2.1148.1, are understood."""

import pytest

from ultracluster_cli.deploy.deployment import DeployedStack, DeploymentProgress

FIRST = """
✨  Synthesis time: 1.72s

a-us-east-2-Network: start: Building a-us-east-2-Network Template
a-us-east-2-Network: success: Published a-us-east-2-Network Template (current_account-us-east-2-35987046)
a-us-east-2/Network (a-us-east-2-Network)
a-us-east-2-Network: creating CloudFormation changeset...
a-us-east-2/Network (a-us-east-2-Network): deploying... [1/4]
a-us-east-2-Network |  0/22 | 3:43:52 AM | CREATE_IN_PROGRESS      | AWS::CloudFormation::Stack | a-us-east-2-Network User Initiated
a-us-east-2-Network |  3/22 | 3:43:52 AM | CREATE_COMPLETE         | AWS::EC2::VPC              | Network/Vpc (NetworkVpc1)
""".splitlines()
REST = """

✅  a-us-east-2/Network (a-us-east-2-Network)

✨  Deployment time: 0.05s

Stack ARN:
arn:aws:cloudformation:us-east-2:123456789012:stack/a-us-east-2-Network/de8a7808-c0d3-45d4-8810-c84200ea21eb
b-us-east-2/Network (b-us-east-2-Network): deploying... [2/4]

✅  b-us-east-2/Network (b-us-east-2-Network) (no changes)

✨  Deployment time: 0s

✨  Total time: 2.82s
""".splitlines()


@pytest.fixture
def progress() -> DeploymentProgress:
    return DeploymentProgress()


def read(progress: DeploymentProgress, lines: list[str]) -> None:
    for line in lines:
        progress.read(line)


def test_distinguishes_changed_and_unchanged_stacks(progress: DeploymentProgress) -> None:
    read(progress, FIRST + REST)

    assert progress.deployed == [
        DeployedStack(name="a-us-east-2/Network (a-us-east-2-Network)", changed=True, seconds=0.05),
        DeployedStack(name="b-us-east-2/Network (b-us-east-2-Network)", changed=False, seconds=0.0),
    ]
    assert progress.current is None
    assert progress.failures == []


def test_records_failures(progress: DeploymentProgress) -> None:
    event = "a | 1/3 | 3:43:52 AM | CREATE_FAILED | AWS::S3::Bucket | B (B1) Resource handler returned message: no"
    read(progress, [*FIRST, event, "❌  a failed to deploy: ROLLBACK_COMPLETE"])

    assert progress.failures == [event, "❌  a failed to deploy: ROLLBACK_COMPLETE"]


def test_reads_through_colors(progress: DeploymentProgress) -> None:
    progress.read("\x1b[1ma-us-east-2/Network\x1b[22m: deploying... [1/2]")

    assert progress.current == "a-us-east-2/Network"


def test_keeps_the_last_lines_for_a_failure_in_other_words(progress: DeploymentProgress) -> None:
    read(progress, [*(f"line {number}" for number in range(100)), "connect ECONNREFUSED", ""])

    assert progress.failures == []
    assert progress.last_lines[-1] == "connect ECONNREFUSED"
    assert len(progress.last_lines) < 10


@pytest.mark.parametrize("line", ["", "Stack ARN:", "Outputs:", "x = deploying", "[WARNING] something"])
def test_other_lines_change_nothing(progress: DeploymentProgress, line: str) -> None:
    progress.read(line)
    progress.last_lines.clear()

    assert progress == DeploymentProgress()


# Showing it


def test_each_stack_is_returned_once_when_its_time_is_known(progress: DeploymentProgress) -> None:
    finished = [stack for line in FIRST + REST if (stack := progress.read(line))]

    assert [str(stack) for stack in finished] == [
        "a-us-east-2/Network: deployed, 0.1 s",
        "b-us-east-2/Network: no changes, 0.0 s",
    ]


def test_the_activity_follows_the_stack_and_its_resources(progress: DeploymentProgress) -> None:
    activities = [progress.activity]
    for line in FIRST + REST:
        progress.read(line)
        if progress.activity != activities[-1]:
            activities.append(progress.activity)

    assert activities == [
        "Preparing the next stack",
        "[1/4] a-us-east-2/Network",
        "[1/4] a-us-east-2/Network, 0 of 22 resources",
        "[1/4] a-us-east-2/Network, 3 of 22 resources",
        "Preparing the next stack",
        "[2/4] b-us-east-2/Network",
        "Preparing the next stack",
    ]
