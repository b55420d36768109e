"""The judges of the grid see what is wrong: each is given something broken beside something right."""

import json
from typing import Any

import pytest
from cfnlint.config import ConfigMixIn
from cfnlint.runner import Runner
from tests import cfn_lint
from tests.grid import lint, requests
from tests.grid.pairs import Row, pairs_of, rows

pytestmark = pytest.mark.slow  # cfn-lint comes with the local AWS

REGION = "us-east-2"


def _template(name: str, **changes: Any) -> tuple[str, str, str]:
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    subnet = {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/20"} | changes,
    }
    return name, REGION, json.dumps({"Resources": {"Vpc": vpc, "Subnet": subnet}})


def test_lint_finds_nothing_in_what_is_right_and_judges_the_same_once() -> None:
    assert (
        lint.problems([_template("g000"), _template("g001"), _template("g002", CidrBlock="10.0.16.0/20")])
        == []
    )


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"Colour": "blue"}, "E3002"),
        ({"MapPublicIpOnLaunch": "perhaps"}, "E3012"),
        ({"VpcId": {"Ref": "Nothing"}}, "E1020"),
        ({"VpcId": {"Fn::GetAtt": ["Vpc", "Colour"]}}, "E1010"),
    ],
)
def test_lint_finds_what_is_wrong_in_a_later_template_and_names_it(
    changes: dict[str, Any], rule: str
) -> None:
    found = lint.problems([_template("g000"), _template("g001-broken", **changes)])
    assert found
    assert all(each.startswith("g001-broken: ") for each in found)
    assert any(rule in each for each in found)


def _broken() -> str:
    """A template with a mistake of each kind that cfn-lint looks for in the places where ours keeps its work."""
    environment = {"Type": "MANAGED", "State": "on", "ComputeResources": {"Type": "EC2", "MaxvCpus": "many"}}
    role = {"AssumeRolePolicyDocument": {"Statement": [{"Effect": "Perhaps", "Action": "sts:AssumeRole"}]}}
    data = {"UserData": "echo ${Vpc} ${HOME} ${Vpc.CidrBlock}", "NetworkInterfaces": [{"DeviceIndex": {}}]}
    container = {"Image": "training", "Environment": [{"Name": "A", "Value": "1"}, {"Variables": {}}]}
    resources = {
        "Vpc": ("AWS::EC2::VPC", {"CidrBlock": {"Fn::Join": [",", "no list"]}}),
        "Subnet": ("AWS::EC2::Subnet", {"VpcId": {"Fn::GetAtt": ["Vpc", "Colour"]}, "CidrBlock": "10.0.0.0"}),
        "Environment": ("AWS::Batch::ComputeEnvironment", environment),
        "Role": ("AWS::IAM::Role", role),
        # Two schemas that call different things by one name.
        "Job": ("AWS::Batch::JobDefinition", {"Type": "container", "ContainerProperties": container}),
        "Function": ("AWS::Lambda::Function", {"Role": "none", "Code": {}, "Environment": {"Name": "A"}}),
        "Template": ("AWS::EC2::LaunchTemplate", {"LaunchTemplateData": data, "Colour": 1}),
    }
    parts = {name: {"Type": kind, "Properties": value} for name, (kind, value) in resources.items()}
    return json.dumps({"Resources": parts, "Outputs": {"Id": {"Value": {"Ref": "Nothing"}}}})


def test_lint_finds_what_cfn_lint_finds_as_it_is_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[str]:
        return sorted(
            f"{each.rule.id} {each.path} {each}" for each in cfn_lint.lint(_broken(), regions=[REGION])
        )

    keeping = found()
    for (owner, name), function in cfn_lint.AS_SHIPPED.items():
        assert getattr(owner, name) is cfn_lint.KEEPING[owner, name]
        monkeypatch.setattr(owner, name, function)
    # Rules hold the functions that they are made with.
    monkeypatch.setattr(cfn_lint, "_rules", lambda: Runner(ConfigMixIn()).rules)
    assert keeping == found()
    assert len({each.split()[0] for each in keeping}) >= 6


def test_lint_compares_the_subnets_of_one_network_and_not_of_two() -> None:
    name, _, text = _template("g000")
    template = json.loads(text)
    template["Resources"]["Other"] = template["Resources"]["Subnet"] | {"DependsOn": "Subnet"}
    assert lint.problems([(name, REGION, json.dumps(template))]) == [
        "g000: the subnets Subnet and Other overlap"
    ]
    assert lint.problems([(name, REGION, text), ("g001", REGION, text)]) == []


def test_lint_looks_at_each_region() -> None:
    name, _, text = _template("g000", Colour="blue")
    assert len(lint.problems([(name, "us-east-2", text), (name, "us-west-2", text)])) == 2


def _job(**changes: Any) -> dict[str, Any]:
    container = {"Image": "training:1", "Command": ["train.py"], "LogConfiguration": {"LogDriver": "awslogs"}}
    return {
        "Type": "AWS::Batch::JobDefinition",
        "Properties": {"Type": "container", "ContainerProperties": container | changes},
    }


def test_the_service_model_takes_a_right_request() -> None:
    assert requests.problems(_job()) == []
    assert requests.problems(_job(JobRoleArn={"Fn::GetAtt": ["Role", "Arn"]})) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Colour": "blue"}, "ContainerProperties.Colour is no member"),
        ({"Vcpus": "many"}, "vcpus"),
        ({"Command": "train.py"}, "command"),
        ({"LogConfiguration": {"Options": {"a": "b"}}}, "logDriver"),
        ({"JobRoleArn": ["a"]}, "jobRoleArn"),
    ],
)
def test_the_service_model_refuses_a_wrong_one(changes: dict[str, Any], said: str) -> None:
    (found,) = requests.problems(_job(**changes))
    assert said in found


def test_rows_hold_every_pair_that_can_be_and_none_that_cannot() -> None:
    def refuses(row: Row) -> bool:
        return row.get("a") == "1" and row.get("b") == "x"

    found = rows({"a": ["1", "2", "3"], "b": ["x", "y"], "c": ["p", "q"]}, refuses)
    covered = set().union(*map(pairs_of, found))
    assert frozenset({("a", "1"), ("b", "x")}) not in covered
    assert len(covered) == 3 * 2 + 3 * 2 + 2 * 2 - 1
    assert len(found) < 3 * 2 * 2
