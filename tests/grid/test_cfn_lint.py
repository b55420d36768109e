"""cfn-lint, whose work tests/cfn_lint.py keeps for equal values, finds what it finds as it is shipped."""

import json

import pytest
from cfnlint.config import ConfigMixIn
from cfnlint.runner import Runner
from tests import cfn_lint

pytestmark = pytest.mark.slow  # cfn-lint comes with the local AWS

REGION = "us-east-2"


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
