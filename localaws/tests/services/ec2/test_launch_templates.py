"""Versions of launch templates."""

from typing import Any

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


_BOTH = {
    "CapacityReservationPreference": "none",
    "CapacityReservationTarget": {"CapacityReservationId": "cr-1"},
}


@pytest.mark.parametrize(
    ("call", "given", "expected"),
    [
        ("describe_launch_template_versions", {"Versions": ["1"]}, "InvalidParameterValue"),
        ("describe_launch_template_versions", {"Versions": ["$Latest", "$Default"]}, ""),
        ("describe_launch_template_versions", {"LaunchTemplateName": "nodes", "Versions": ["2"]}, "InvalidLaunchTemplateId.VersionNotFound"),
        ("modify_launch_template", {"LaunchTemplateId": "lt-1", "LaunchTemplateName": "nodes", "DefaultVersion": "1"}, "InvalidParameterCombination"),
        ("create_launch_template", {"LaunchTemplateName": "both", "LaunchTemplateData": {"CapacityReservationSpecification": _BOTH}}, "InvalidParameterCombination"),
        ("create_launch_template", {"LaunchTemplateName": "only", "LaunchTemplateData": {"CapacityReservationSpecification": _BOTH | {"CapacityReservationPreference": "capacity-reservations-only"}}}, ""),
    ],
)  # fmt: skip
def test_a_template_is_named_once_and_a_version_with_its_template(
    local_aws: LocalAws, call: str, given: dict[str, object], expected: str
) -> None:
    ec2 = local_aws.client("ec2")
    ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData={"InstanceType": "t3.micro"})

    if expected:
        with pytest.raises(ClientError) as caught:
            getattr(ec2, call)(**given)
        assert code(caught) == expected
    else:
        getattr(ec2, call)(**given)


def test_an_instance_has_the_template_and_its_version_as_tags(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    data = {"InstanceType": "t3.micro", "ImageId": image}
    one = ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)["LaunchTemplate"]
    ec2.run_instances(LaunchTemplate={"LaunchTemplateName": "nodes"}, MinCount=1, MaxCount=1)

    wanted = [{"Name": "tag:aws:ec2launchtemplate:id", "Values": [one["LaunchTemplateId"]]}]
    (instance,) = [
        each
        for found in ec2.describe_instances(Filters=wanted)["Reservations"]
        for each in found["Instances"]
    ]
    assert {"Key": "aws:ec2launchtemplate:version", "Value": "1"} in instance["Tags"]


def test_a_range_of_versions_is_described_and_one_that_is_absent_is_not_deleted(ec2: Any) -> None:
    data = {"LaunchTemplateData": {"InstanceType": "t3.micro"}}
    template = ec2.create_launch_template(LaunchTemplateName="range", **data)["LaunchTemplate"]
    named = {"LaunchTemplateId": template["LaunchTemplateId"]}
    for _ in range(3):
        ec2.create_launch_template_version(**named, **data)

    shown = ec2.describe_launch_template_versions(**named, MinVersion="2", MaxVersion="3")
    assert [one["VersionNumber"] for one in shown["LaunchTemplateVersions"]] == [3, 2]
    (failed,) = ec2.delete_launch_template_versions(**named, Versions=["9"])[
        "UnsuccessfullyDeletedLaunchTemplateVersions"
    ]
    assert failed["ResponseError"]["Code"] == "launchTemplateVersionDoesNotExist"
