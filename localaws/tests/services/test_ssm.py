"""Parameters that Systems Manager refuses."""

from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import ACCOUNT, LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def ssm(local_aws: LocalAws) -> Any:
    return local_aws.client("ssm")


@pytest.mark.parametrize("name", ["aws", "/aws/mine", "AWS-mine", "/Aws"])
def test_names_of_aws_are_reserved(ssm: Any, name: str) -> None:
    assert refusal(ssm.put_parameter, Name=name, Value="x", Type="String") == (
        "AccessDeniedException",
        f"No access to reserved parameter name: {name}.",
    )


@pytest.mark.parametrize(
    ("tier", "size", "words"),
    [
        ("Standard", 4096, ""),
        ("Standard", 4097, "Standard tier parameters support a maximum parameter value of 4096 characters."),
        ("Advanced", 8192, ""),
        ("Advanced", 8193, "Advanced tier parameters support a maximum parameter value of 8192 characters."),
    ],
)
def test_a_value_is_as_long_as_its_tier_allows(ssm: Any, tier: str, size: int, words: str) -> None:
    parameter = {"Name": "/cluster/value", "Value": "x" * size, "Type": "String", "Tier": tier}

    if words:
        assert words in refusal(ssm.put_parameter, **parameter)[1]
    else:
        ssm.put_parameter(**parameter)


def test_a_command_goes_to_instances_that_are_there(local_aws: LocalAws, ssm: Any) -> None:
    command = {"DocumentName": "AWS-RunShellScript", "Parameters": {"commands": ["true"]}}
    absent = "i-0123456789abcdef0"
    problem = f"Instances [[{absent}]] not in a valid state for account {ACCOUNT}"
    said = refusal(ssm.send_command, InstanceIds=[absent], **command)
    assert said == (
        "InvalidInstanceId",
        problem,
    )  # aws-samples/eks-security-compromised-cluster-remediation#12

    image = local_aws.client("ec2").describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    (made,) = local_aws.client("ec2").run_instances(ImageId=image, MinCount=1, MaxCount=1)["Instances"]
    ssm.send_command(InstanceIds=[made["InstanceId"], "mi-0123456789abcdef0"], **command)


@pytest.mark.parametrize("levels", [15, 16])
def test_a_hierarchy_has_fifteen_levels(ssm: Any, levels: int) -> None:
    parameter = {"Name": "/a" * levels, "Value": "x", "Type": "String"}
    if levels > 15:
        assert refusal(ssm.put_parameter, **parameter)[0] == "HierarchyLevelLimitExceededException"
    else:
        ssm.put_parameter(**parameter)
