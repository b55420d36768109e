"""Instances take from the capacity that they name."""

import functools
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.events.event_rules import REGION
from tests.refusals import refusal
from tests.services.ec2.blocks_and_instances import (
    END,
    IMAGE,
    RESERVATION,
    START,
    launch,
    seed,
)

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def available(local: LocalAws) -> int:
    answer = local.client("ec2", REGION).describe_capacity_reservations(CapacityReservationIds=[RESERVATION])
    return int(answer["CapacityReservations"][0]["AvailableInstanceCount"])


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_instances_take_from_the_block_and_show_where_they_run(local: LocalAws) -> None:
    seed()
    with pytest.raises(ClientError) as early:
        launch(local, 1)
    assert code(early) == "ReservationCapacityExceeded"
    local.clock.set(START)
    assert available(local) == 4
    launch(local, 3)
    assert available(local) == 1
    with pytest.raises(ClientError) as full:
        launch(local, 2)
    assert code(full) == "ReservationCapacityExceeded"
    assert available(local) == 1
    assert len(launch(local, 2, least=1)) == 1
    groups = local.client("ec2", REGION).describe_instances()["Reservations"]
    shown = [one for group in groups for one in group["Instances"]]
    assert len(shown) == 4
    assert {(one["InstanceLifecycle"], one["CapacityReservationId"]) for one in shown} == {
        ("capacity-block", RESERVATION)
    }
    local.client("ec2", REGION).terminate_instances(InstanceIds=[shown[0]["InstanceId"]])
    assert available(local) == 1


def test_block_whose_instances_are_being_terminated_takes_no_others(local: LocalAws) -> None:
    seed()
    local.clock.set(END - timedelta(minutes=31))
    launch(local, 1)
    local.clock.set(END - timedelta(minutes=30))
    with pytest.raises(ClientError) as late:
        launch(local, 1)
    assert code(late) == "ReservationCapacityExceeded"


def test_launch_takes_market_and_reservation_from_a_launch_template(local: LocalAws) -> None:
    seed()
    local.clock.set(START)
    ec2 = local.client("ec2", REGION)
    template = ec2.create_launch_template(
        LaunchTemplateName="nodes",
        LaunchTemplateData={
            "ImageId": ec2.describe_images(Filters=IMAGE)["Images"][0]["ImageId"],
            "InstanceType": "trn2.48xlarge",
            "InstanceMarketOptions": {"MarketType": "capacity-block"},
            "CapacityReservationSpecification": {
                "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
            },
        },
    )["LaunchTemplate"]["LaunchTemplateId"]
    (launched,) = ec2.run_instances(MinCount=1, MaxCount=1, LaunchTemplate={"LaunchTemplateId": template})[
        "Instances"
    ]
    assert (launched["InstanceType"], launched["CapacityReservationId"]) == ("trn2.48xlarge", RESERVATION)
    assert available(local) == 3


def test_launch_without_a_reservation_is_on_demand(local: LocalAws) -> None:
    seed()
    local.clock.set(START)
    (launched,) = launch(local, 1, InstanceMarketOptions={}, CapacityReservationSpecification={})
    assert "InstanceLifecycle" not in launched
    assert "CapacityReservationId" not in launched
    assert available(local) == 4


@pytest.mark.parametrize(
    "changes",
    [
        {"InstanceMarketOptions": {}},
        {"CapacityReservationSpecification": {}},
        {"InstanceType": "trn1.32xlarge"},
    ],
    ids=["no market type", "no reservation", "another type"],
)
def test_launch_that_does_not_fit_the_block_is_refused(local: LocalAws, changes: dict[str, Any]) -> None:
    seed()
    local.clock.set(START)
    with pytest.raises(ClientError) as caught:
        launch(local, 1, **changes)
    assert code(caught).startswith("InvalidParameter")
    assert available(local) == 4


def test_instances_are_found_by_reservation_lifecycle_and_profile(local: LocalAws) -> None:
    seed()
    local.clock.set(START)
    ec2 = local.client("ec2", REGION)
    (inside,) = launch(local, 1)
    made = local.client("iam", REGION).create_instance_profile(InstanceProfileName="nodes")
    profile = made["InstanceProfile"]["Arn"]
    image = ec2.describe_images(Filters=IMAGE)["Images"][0]["ImageId"]
    (outside,) = ec2.run_instances(
        MinCount=1, MaxCount=1, ImageId=image, InstanceType="t3.micro", IamInstanceProfile={"Arn": profile}
    )["Instances"]

    def found(name: str, value: str) -> list[str]:
        groups = ec2.describe_instances(Filters=[{"Name": name, "Values": [value]}])["Reservations"]
        return [one["InstanceId"] for group in groups for one in group["Instances"]]

    assert found("capacity-reservation-id", RESERVATION) == [inside["InstanceId"]]
    assert found("instance-lifecycle", "capacity-block") == [inside["InstanceId"]]
    assert found("iam-instance-profile.arn", profile) == [outside["InstanceId"]]
    assert found("instance-id", f"{outside['InstanceId'][:12]}*") == [outside["InstanceId"]]
    assert found("instance-id", "[i]-*") == []


def test_an_instance_with_many_cards_leaves_no_interface_behind(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.8.0.0/24")["Subnet"]["SubnetId"]
    interfaces = [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": int(card > 0),
            "InterfaceType": "efa-only" if card else "efa",
            "SubnetId": subnet,
            "DeleteOnTermination": True,
        }
        for card in range(8)
    ]
    image = ec2.describe_images(
        Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
    )["Images"][0]["ImageId"]
    (instance,) = ec2.run_instances(
        ImageId=image, InstanceType="trn1.32xlarge", MinCount=1, MaxCount=1, NetworkInterfaces=interfaces
    )["Instances"]
    attached = [(one["InterfaceType"], one["Attachment"]) for one in instance["NetworkInterfaces"]]
    assert [(kind, one["NetworkCardIndex"], one["DeviceIndex"]) for kind, one in attached] == [
        ("efa-only" if card else "efa", card, int(card > 0)) for card in range(8)
    ]
    for before in ("running", "terminated"):  # the second time, nothing is left to do
        (change,) = ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])["TerminatingInstances"]
        assert change["PreviousState"]["Name"] == before
    ec2.delete_subnet(SubnetId=subnet)
    ec2.delete_vpc(VpcId=vpc)


def test_an_adapter_is_attached_only_to_a_type_that_has_some(ec2: Any) -> None:
    image = ec2.describe_images(Filters=IMAGE)["Images"][0]["ImageId"]
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    given = {"ImageId": image, "SubnetId": subnet, "MinCount": 1, "MaxCount": 1}
    adapter = ec2.create_network_interface(SubnetId=subnet, InterfaceType="efa")["NetworkInterface"]
    assert adapter["InterfaceType"] == "efa"

    def attach(instance_type: str) -> Any:
        (made,) = ec2.run_instances(**given, InstanceType=instance_type)["Instances"]
        attached = {"NetworkInterfaceId": adapter["NetworkInterfaceId"], "InstanceId": made["InstanceId"]}
        return functools.partial(ec2.attach_network_interface, DeviceIndex=1, **attached)

    problem = "c5.large instances do not support Elastic Fabric Adapters."
    assert refusal(attach("c5.large")) == ("InvalidParameterCombination", problem)
    attach("c5n.18xlarge")()


def test_an_instance_that_is_protected_against_stops_is_neither_stopped_nor_terminated(ec2: Any) -> None:
    image = ec2.describe_images(Filters=IMAGE)["Images"][0]["ImageId"]
    given = {"ImageId": image, "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1}
    name = ec2.run_instances(**given, DisableApiStop=True)["Instances"][0]["InstanceId"]

    for call, done in ((ec2.stop_instances, "stopped"), (ec2.terminate_instances, "terminated")):
        assert refusal(call, InstanceIds=[name]) == (
            "OperationNotPermitted",
            f"The instance '{name}' may not be {done}. Modify its 'disableApiStop' instance attribute and try again.",
        )

    ec2.modify_instance_attribute(InstanceId=name, DisableApiTermination={"Value": True})
    assert (
        "may not be stopped. Modify its 'disableApiStop'"
        in refusal(ec2.stop_instances, InstanceIds=[name])[1]
    )
    assert "'disableApiTermination'" in refusal(ec2.terminate_instances, InstanceIds=[name])[1]
    ec2.modify_instance_attribute(InstanceId=name, DisableApiStop={"Value": False})
    ec2.stop_instances(InstanceIds=[name])


def test_an_instance_is_protected_against_termination_from_its_launch_on(ec2: Any) -> None:
    image = ec2.describe_images(Filters=IMAGE)["Images"][0]["ImageId"]
    given = {"ImageId": image, "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1}

    def launch(zone: str, **more: bool) -> str:
        placed = ec2.run_instances(**given, Placement={"AvailabilityZone": zone}, **more)
        return str(placed["Instances"][0]["InstanceId"])

    def states() -> list[str]:
        found = ec2.describe_instances(InstanceIds=names)["Reservations"]
        shown = {one["InstanceId"]: one["State"]["Name"] for each in found for one in each["Instances"]}
        return [shown[name] for name in names]

    names = [
        launch("us-east-2a"),
        launch("us-east-2b"),
        launch("us-east-2b", DisableApiTermination=True),
        launch("us-east-2b"),
    ]
    shown = ec2.describe_instance_attribute(InstanceId=names[2], Attribute="disableApiTermination")
    assert shown["DisableApiTermination"] == {"Value": True}
    # API_TerminateInstances: those of other Availability Zones are terminated.
    assert refusal(ec2.terminate_instances, InstanceIds=names) == (
        "OperationNotPermitted",
        f"The instance '{names[2]}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.",
    )
    assert states() == ["terminated", "running", "running", "running"]

    ec2.modify_instance_attribute(InstanceId=names[2], DisableApiTermination={"Value": False})
    ec2.terminate_instances(InstanceIds=names)
    assert states() == ["terminated"] * 4


def test_a_terminated_instance_is_neither_started_nor_stopped(ec2: Any) -> None:
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    (launched,) = ec2.run_instances(ImageId=image, InstanceType="t3.micro", MinCount=1, MaxCount=1)[
        "Instances"
    ]
    one = launched["InstanceId"]
    ec2.stop_instances(InstanceIds=[one])
    ec2.start_instances(InstanceIds=[one])
    ec2.terminate_instances(InstanceIds=[one])

    for call, words in (
        (ec2.start_instances, f"The instance '{one}' is not in a state from which it can be started."),
        (ec2.stop_instances, f"This instance '{one}' is not in a state from which it can be stopped."),
    ):
        assert refusal(call, InstanceIds=[one]) == ("IncorrectInstanceState", words)


def test_the_images_of_an_account_have_names_of_their_own(ec2: Any) -> None:
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    (launched,) = ec2.run_instances(ImageId=image, InstanceType="t3.micro", MinCount=1, MaxCount=1)[
        "Instances"
    ]
    wanted = {"InstanceId": launched["InstanceId"], "Name": "nodes"}
    made = ec2.create_image(**wanted)["ImageId"]

    words = f"AMI name nodes is already in use by AMI {made}"
    assert refusal(ec2.create_image, **wanted) == ("InvalidAMIName.Duplicate", words)


def test_an_instance_is_in_a_zone_that_its_region_has(ec2: Any) -> None:
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    wanted = {"ImageId": image, "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1}

    words = "Invalid availability zone: [us-east-1z]"
    placed = {"Placement": {"AvailabilityZone": "us-east-1z"}}
    assert refusal(ec2.run_instances, **wanted, **placed) == ("InvalidParameterValue", words)
