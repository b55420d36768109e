"""Versions of launch templates."""

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_versions_of_a_launch_template_build_on_each_other(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    interfaces = [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": min(card, 1),
            "InterfaceType": "efa-only",
            "Groups": ["sg-1"],
        }
        for card in range(16)
    ]
    data = {"ImageId": "ami-1", "UserData": "bWltZQ==", "NetworkInterfaces": interfaces}
    one = ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)["LaunchTemplate"]
    template = {"LaunchTemplateId": one["LaunchTemplateId"]}
    ec2.create_launch_template_version(**template, SourceVersion="1", LaunchTemplateData={"ImageId": "ami-2"})
    newest, oldest = ec2.describe_launch_template_versions(**template)["LaunchTemplateVersions"]
    assert newest["LaunchTemplateData"] == {**data, "ImageId": "ami-2"}
    assert oldest["LaunchTemplateData"] == data
    assert (oldest["DefaultVersion"], newest["DefaultVersion"]) == (True, False)
    ec2.modify_launch_template(**template, DefaultVersion="2")
    (default,) = ec2.describe_launch_template_versions(**template, Versions=["$Default"])[
        "LaunchTemplateVersions"
    ]
    assert default["VersionNumber"] == 2
    with pytest.raises(ClientError) as caught:
        ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)
    assert code(caught) == "InvalidLaunchTemplateName.AlreadyExistsException"
