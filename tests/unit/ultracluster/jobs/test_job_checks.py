"""A job is refused before it is defined."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.stacks.shown_warnings import shown
from tests.unit.ultracluster.builders import IMAGE, REGION, only, queue
from tests.unit.ultracluster.jobs.defined_jobs import job, single_node_job

import ultracluster as uc
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.neuron import Neuron

pytestmark = pytest.mark.slow


def test_rejects_three_nodes_of_an_ultraserver(stack: cdk.Stack) -> None:
    given = queue(stack, instance_type="trn2u.48xlarge")
    with pytest.raises(FindingsError, match="UC4028"):
        uc.MultiNodeJob(stack, "Job", uc.Job(image=IMAGE, command=("train.py",), nodes=3), queue=given)


def test_several_nodes_without_efa_must_be_requested(stack: cdk.Stack) -> None:
    given = queue(stack, instance_type="trn1.2xlarge")
    with pytest.raises(FindingsError, match="UC6102"):
        uc.MultiNodeJob(stack, "Refused", uc.Job(image=IMAGE, command=("train.py",), nodes=2), queue=given)
    uc.MultiNodeJob(
        stack, "Job", uc.Job(image=IMAGE, command=("train.py",), nodes=2, without_efa=True), queue=given
    )
    (node_range,) = only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]["NodeRangeProperties"]
    variables = {each["Name"]: each["Value"] for each in node_range["Container"]["Environment"]}
    assert variables["FI_PROVIDER"] == "tcp"


def test_warns_of_an_image_that_private_nodes_cannot_pull(stack: cdk.Stack) -> None:
    job(stack, image="public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0")
    assertions.Annotations.from_stack(stack).has_warning(
        "/Test/Pretrain",
        assertions.Match.string_like_regexp(r"imageNotInEcr|is not in Amazon ECR"),
    )


def test_an_image_in_ecr_raises_no_warning(stack: cdk.Stack) -> None:
    job(stack)
    assert assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.any_value()) == []


@pytest.mark.parametrize(
    ("account", "owner", "warned"),
    [
        ("123456789012", "999999999999", True),
        ("123456789012", "123456789012", False),
        ("123456789012", "763104351884", False),  # images of AWS
        (None, "999999999999", False),  # it is not known
    ],
)
def test_warns_of_an_image_that_the_account_needs_to_be_let_pull(
    account: str | None, owner: str, *, warned: bool
) -> None:
    stack = cdk.Stack(cdk.App(), "Test", env=cdk.Environment(account=account, region=REGION))
    job(stack, image=f"{owner}.dkr.ecr.{REGION}.amazonaws.com/training:1")

    assert ("UC6180" in shown(stack)) is warned


def test_all_errors_are_raised_together(stack: cdk.Stack) -> None:
    settings: Any = {"optlevel": 7, "auto_cast_type": "bf16"}
    with pytest.raises(FindingsError) as caught:
        single_node_job(
            stack,
            array_size=1,
            attempts=11,
            neuron=Neuron(**settings),
            environment={"AWS_BATCH_X": "1"},
        )
    codes = {finding.code for finding in caught.value.findings}
    assert codes == {"UC6111", "UC6109", "UC6011", "UC6012", "UC6104"}


def test_warnings_of_the_settings_do_not_fail_synthesis(stack: cdk.Stack) -> None:
    made = single_node_job(stack, neuron=Neuron(async_requests=4))
    warnings = cdk.assertions.Annotations.from_stack(stack).find_warning(
        "/Test/Evaluate", cdk.assertions.Match.string_like_regexp("UC6013")
    )
    assert len(warnings) == 1
    assert made.environment["NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS"] == "4"


def test_rejects_more_dependencies_than_aws_batch_supports(stack: cdk.Stack) -> None:
    training = queue(stack)
    before = [single_node_job(stack, f"J{index}", queue=training) for index in range(21)]
    with pytest.raises(FindingsError, match=r"UC6113: \S+: depends_on: got 21 jobs"):
        single_node_job(stack, queue=training, depends_on=before)
    with pytest.raises(FindingsError, match="UC6113"):
        single_node_job(stack, "Again", queue=training, depends_on=[before[0], before[0]])
    assert len(single_node_job(stack, "Last", queue=training, depends_on=before[:20]).depends_on) == 20


def test_rejects_dependencies_whose_names_exceed_a_tag(stack: cdk.Stack) -> None:
    training = queue(stack)
    before = [single_node_job(stack, letter * 127, queue=training) for letter in "AB"]
    third = single_node_job(stack, "C" * 10, queue=training)
    assert single_node_job(
        stack, "Fits", queue=training, depends_on=before
    ).depends_on  # 255 of 256 characters
    with pytest.raises(FindingsError, match="UC6113"):
        single_node_job(stack, "Long", queue=training, depends_on=[*before, third])


def test_rejects_permissions_to_buy_in_python_too(stack: cdk.Stack) -> None:
    buys = uc.Statement(actions=("ec2:PurchaseCapacityBlock",), resources=("*",))
    with pytest.raises(FindingsError, match=r"UC6123: \S+: permissions.statements\[0\].actions\[0\]"):
        job(stack, permissions=uc.Permissions(statements=(buys,)))
