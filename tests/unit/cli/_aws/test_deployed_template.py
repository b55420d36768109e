"""A stack is read from CloudFormation with its status; one without resources has no template."""

import json

import pytest
from botocore.exceptions import ClientError
from tests.unit.cli.plan.fake_project import TEMPLATE, CloudFormation

from ultracluster_cli._aws.deployed_template import EMPTY_STATES, read_deployed


@pytest.mark.parametrize("body", [TEMPLATE, json.dumps(TEMPLATE)])
def test_reads_the_template_and_the_status_of_a_stack(body: object) -> None:
    read = read_deployed("a-Storage", CloudFormation(body, status="UPDATE_COMPLETE"))

    assert (read.status, read.template) == ("UPDATE_COMPLETE", TEMPLATE)


@pytest.mark.parametrize("status", sorted(EMPTY_STATES))
def test_a_stack_without_resources_has_no_template(status: str) -> None:
    read = read_deployed("a-Storage", CloudFormation(status=status))

    assert (read.status, read.template) == (status, None)


def test_a_stack_that_does_not_exist_has_no_status() -> None:
    read = read_deployed("a-Storage", CloudFormation(error="ValidationError: Stack a-Storage does not exist"))

    assert (read.status, read.template) == (None, None)


def test_another_refusal_is_raised() -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        read_deployed("a-Storage", CloudFormation(error="AccessDenied: DescribeStacks"))


@pytest.mark.parametrize(
    ("code", "gone"), [("ValidationError: Stack a-Storage does not exist", True), ("AccessDenied: no", False)]
)
def test_a_stack_that_is_deleted_while_it_is_read_has_no_status(code: str, *, gone: bool) -> None:
    cloudformation = CloudFormation()
    cloudformation.get_template = CloudFormation(error=code).describe_stacks  # type: ignore[method-assign]

    if gone:
        assert read_deployed("a-Storage", cloudformation).status is None
    else:
        with pytest.raises(ClientError, match="AccessDenied"):
            read_deployed("a-Storage", cloudformation)
