"""Operations on stacks that the CDK does not call: what AWS answered to localstack/localstack, and to users of the CLI."""

import json
from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

TOPIC = {"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}


def test_a_summary_says_what_a_template_declares(stacks: Any) -> None:
    size = {"Type": "Number", "Default": 1, "AllowedValues": [1, 2]}
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}}
    queue = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": "x"}}
    text = {"Parameters": {"Size": size}, "Resources": {"R": role, "P": queue}, "Metadata": {"a": "b"}}

    said = stacks.api.get_template_summary(TemplateBody=json.dumps(text))

    assert said["Parameters"] == [
        {
            "ParameterKey": "Size",
            "ParameterType": "Number",
            "DefaultValue": "1",
            "NoEcho": False,
            "ParameterConstraints": {"AllowedValues": ["1", "2"]},
        }
    ]
    assert said["Capabilities"] == ["CAPABILITY_IAM"]
    assert said["ResourceTypes"] == ["AWS::IAM::Role", "AWS::SSM::Parameter"]
    assert said["ResourceIdentifierSummaries"][1] == {
        "ResourceType": "AWS::SSM::Parameter",
        "LogicalResourceIds": ["P"],
        "ResourceIdentifiers": ["Name"],
    }
    assert (said["Version"], said["Metadata"]) == ("2010-09-09", "{'a': 'b'}")


def test_a_summary_of_a_stack_needs_a_deployed_one(stacks: Any) -> None:
    change_set = {"StackName": "s", "ChangeSetName": "c", "ChangeSetType": "CREATE"}
    stacks.api.create_change_set(**change_set, TemplateBody=json.dumps(TOPIC))

    words = "GetTemplateSummary cannot be called on REVIEW_IN_PROGRESS stacks."
    assert refusal(stacks.api.get_template_summary, StackName="s") == ("ValidationError", words)
    stacks.api.execute_change_set(StackName="s", ChangeSetName="c")
    assert stacks.api.get_template_summary(StackName="s")["ResourceTypes"] == ["AWS::SNS::Topic"]


def test_the_users_of_an_export_are_listed(stacks: Any) -> None:
    exported = TOPIC | {"Outputs": {"O": {"Value": "x", "Export": {"Name": "E"}}}}
    stacks.api.create_stack(StackName="one", TemplateBody=json.dumps(exported))
    words = "Export 'E' is not imported by any stack."
    assert refusal(stacks.api.list_imports, ExportName="E") == ("ValidationError", words)

    topic = {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": {"Fn::ImportValue": "E"}}}
    stacks.api.create_stack(StackName="two", TemplateBody=json.dumps({"Resources": {"T": topic}}))
    assert stacks.api.list_imports(ExportName="E")["Imports"] == ["two"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("describe_stacks", "Stack with id s does not exist"),
        ("describe_stack_events", "Stack [s] does not exist"),
        ("delete_change_set", "Stack [s] does not exist"),
        ("update_stack", "Stack [s] does not exist"),
        ("describe_stack_resource", "Stack 's' does not exist"),
    ],
)
def test_each_operation_has_its_words_for_a_stack_that_is_absent(stacks: Any, call: str, words: str) -> None:
    given = {
        "delete_change_set": {"ChangeSetName": "c"},
        "update_stack": {"TemplateBody": json.dumps(TOPIC)},
        "describe_stack_resource": {"LogicalResourceId": "T"},
    }.get(call, {})
    assert refusal(getattr(stacks.api, call), StackName="s", **given) == ("ValidationError", words)


def test_a_new_stack_has_no_previous_template(stacks: Any) -> None:
    given = {"StackName": "s", "ChangeSetName": "c", "ChangeSetType": "CREATE", "UsePreviousTemplate": True}

    words = "Cannot specify usePreviousTemplate as true for a changeSetType CREATE"
    assert refusal(stacks.api.create_change_set, **given)[1] == words


@pytest.mark.parametrize("call", ["cancel_update_stack", "continue_update_rollback"])
def test_an_update_that_is_not_under_way_is_neither_cancelled_nor_continued(stacks: Any, call: str) -> None:
    stacks.api.create_stack(StackName="s", TemplateBody=json.dumps(TOPIC))

    words = refusal(getattr(stacks.api, call), StackName="s")[1]
    assert words.endswith(" cannot be called from current stack status")


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (TOPIC | {"Resource": {}}, "Invalid template property or properties [Resource]"),
        (
            TOPIC | {"Outputs": {"O": {"Value": {"Ref": "X"}}}},
            "Unresolved resource dependencies [X] in the Outputs block of the template",
        ),
    ],
)
def test_a_template_is_refused_in_the_words_of_aws(stacks: Any, template: Any, words: str) -> None:
    assert refusal(stacks.api.create_stack, StackName="s", TemplateBody=json.dumps(template))[1] == words


def test_a_parameter_that_says_what_it_takes_is_refused_with_that(stacks: Any) -> None:
    letters = {"Type": "String", "AllowedPattern": "[a-z]+", "ConstraintDescription": "only letters"}
    text = json.dumps(TOPIC | {"Parameters": {"P": letters}})
    given = {"Parameters": [{"ParameterKey": "P", "ParameterValue": "1"}]}

    words = "Parameter P failed to satisfy constraint: only letters"
    assert refusal(stacks.api.create_stack, StackName="s", TemplateBody=text, **given)[1] == words


def test_a_parameter_of_systems_manager_exists_before_a_stack_is_made(
    stacks: Any, local_aws: LocalAws
) -> None:
    name = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/size"}
    text = json.dumps(TOPIC | {"Parameters": {"P": name}})

    words = "Unable to fetch parameters [/size] from parameter store for this account."
    assert refusal(stacks.api.create_stack, StackName="s", TemplateBody=text)[1] == words
    local_aws.client("ssm", "us-east-1").put_parameter(Name="/size", Value="x", Type="String")
    stacks.api.create_stack(StackName="s", TemplateBody=text)
