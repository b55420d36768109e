"""A file system that exists already: read by nodes, let through on request, changed in nothing."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from tests.unit.ultracluster.builders import IMAGE_ID, network, of_type, only, ultra_cluster

from ultracluster import NodeGroup, SharedFileSystem, UltraCluster
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

_ID = "fs-0123456789abcdef0"


def existing(stack: cdk.Stack, **changes: Any) -> SharedFileSystem:
    given = {"file_system_id": _ID, "mount_name": "abcdefgh", "zone_id": "use2-az3"} | changes
    if "network" not in given:
        given["network"] = network(stack)
    return SharedFileSystem.from_attributes(stack, "FileSystem", **given)


def group(stack: cdk.Stack) -> ec2.ISecurityGroup:
    return ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")


def warnings(stack: cdk.Stack) -> list[str]:
    found = assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.any_value())
    return [str(each.entry.data).partition(":")[0] for each in found]


def test_nodes_mount_it(stack: cdk.Stack) -> None:
    there = network(stack)
    system = existing(stack, network=there, mount_path="/data")
    NodeGroup(
        stack, "Nodes", network=there, instance_type="trn2.48xlarge", image_id=IMAGE_ID, file_system=system
    )
    _, parts = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["UserData"]["Fn::Base64"][
        "Fn::Join"
    ]
    data = "".join(map(str, parts))
    assert f"UC_FILE_SYSTEM_DNS='{_ID}.fsx.us-east-2." in data
    assert "UC_FILE_SYSTEM_MOUNT='abcdefgh'" in data
    assert "UC_MOUNT_PATH='/data'" in data


def test_nothing_is_made_of_it(stack: cdk.Stack) -> None:
    system = existing(stack)
    assert of_type(stack, "AWS::FSx::FileSystem") == []
    assert (system.file_system_id, system.efa_enabled) == (_ID, False)
    assert system.connections.security_groups == []


def lustre(stack: cdk.Stack, there: ec2.IVpc, **changes: Any) -> fsx.LustreFileSystem:
    given: dict[str, Any] = {
        "lustre_configuration": {
            "deployment_type": fsx.LustreDeploymentType.PERSISTENT_2,
            "per_unit_storage_throughput": 250,
        },
        "storage_capacity_gib": 4800,
        "vpc": there,
        "vpc_subnet": there.private_subnets[0],
    } | changes
    return fsx.LustreFileSystem(stack, "Theirs", **given)


def cluster_on(stack: cdk.Stack, there: ec2.IVpc | None, system: fsx.IFileSystem) -> UltraCluster:
    return ultra_cluster(stack, network=there, file_system=system)


def vpc(stack: cdk.Stack, construct_id: str = "Vpc") -> ec2.Vpc:
    return ec2.Vpc(stack, construct_id, max_azs=1)


def test_a_file_system_of_the_cdk_is_mounted_and_let_through(stack: cdk.Stack) -> None:
    there = vpc(stack)
    theirs = lustre(stack, there)
    cluster = cluster_on(stack, there, theirs)

    (name,) = assertions.Template.from_stack(stack).find_resources("AWS::FSx::FileSystem")
    assert cluster.file_system
    assert stack.resolve(cluster.file_system.file_system_id) == {"Ref": name}
    assert cluster.checkpoint_bucket is None
    ours = stack.resolve(cluster.network.security_group_id)
    groups = [
        each["Properties"]["GroupId"]
        for each in of_type(stack, "AWS::EC2::SecurityGroupIngress")
        if each["Properties"].get("Description") == "Lustre"
    ]
    assert ours in groups
    assert len({str(each) for each in groups}) == 2
    assert [each for each in warnings(stack) if each in {"UC5032", "UC5033"}] == []


def test_a_file_system_of_the_cdk_that_nodes_cannot_mount_is_refused(stack: cdk.Stack) -> None:
    there = vpc(stack)
    scratch = {"deployment_type": fsx.LustreDeploymentType.SCRATCH_2}
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")
    imported = fsx.LustreFileSystem.from_lustre_file_system_attributes(
        stack, "Imported", dns_name="fs-0123456789abcdef0.fsx", file_system_id=_ID, security_group=group
    )
    elsewhere = lustre(cdk.Stack(stack, "Elsewhere"), vpc(stack, "Other"))
    old = lustre(stack, there, lustre_configuration=scratch)
    for network_, system, told in (
        (there, elsewhere, "UC5060"),
        (None, elsewhere, "UC5060"),
        (there, old, "UC5061: .*V_2_15"),
        (there, imported, "UC5030: .*from_attributes"),
    ):
        with pytest.raises(FindingsError, match=told):
            cluster_on(stack, network_, system)


def test_an_old_version_that_is_asked_for_is_taken(stack: cdk.Stack) -> None:
    there = vpc(stack)
    scratch = {"deployment_type": fsx.LustreDeploymentType.SCRATCH_2}
    version = fsx.FileSystemTypeVersion.V_2_12
    cluster_on(
        stack, there, lustre(stack, there, lustre_configuration=scratch, file_system_type_version=version)
    )


def test_its_own_name_is_taken(stack: cdk.Stack) -> None:
    assert existing(stack, dns_name=f"{_ID}.fsx.us-east-2.aws.example").dns_name.endswith("aws.example")


def test_rules_are_added_to_both_groups_when_its_group_is_given(stack: cdk.Stack) -> None:
    there = network(stack)
    existing(stack, network=there, security_group=group(stack))
    nodes = str(stack.resolve(there.security_group.security_group_id))
    rules = [
        (str(each["Properties"]["GroupId"]), each["Properties"]["FromPort"])
        for direction in ("Ingress", "Egress")
        for each in of_type(stack, f"AWS::EC2::SecurityGroup{direction}")
        if each["Properties"]["Description"] == "Lustre"
    ]
    own = "sg-0123456789abcdef0"
    assert sorted(rules) == sorted((one, port) for one in (nodes, own) for port in (988, 1018) for _ in "io")
    assert warnings(stack) == []


def test_efa_is_let_through_by_the_groups(stack: cdk.Stack) -> None:
    assert existing(stack, security_group=group(stack), efa_enabled=True).efa_enabled
    lustre = [
        each["Properties"]["IpProtocol"]
        for each in of_type(stack, "AWS::EC2::SecurityGroupIngress")
        if each["Properties"]["Description"] == "Lustre"
    ]
    assert lustre == ["-1", "-1"]


def test_warns_of_what_is_not_known(stack: cdk.Stack) -> None:
    existing(stack, zone_id=None)
    assert sorted(warnings(stack)) == ["UC5032", "UC5033"]


def test_rejects_what_cannot_be_one_and_shows_all_problems(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError) as refused:
        existing(stack, file_system_id="fs-x", mount_name="'; reboot", dns_name="localhost")
    assert [(each.code, each.path) for each in refused.value.findings] == [
        ("UC5030", "file_system_id"),
        ("UC5030", "mount_name"),
        ("UC5030", "dns_name"),
    ]


def test_rejects_one_in_another_zone(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC5031: \S+: zone_id"):
        existing(stack, zone_id="use2-az1")


def test_takes_what_only_the_deployment_knows(stack: cdk.Stack) -> None:
    system = existing(stack, file_system_id=cdk.Fn.import_value("id"), mount_name=cdk.Fn.import_value("name"))
    assert stack.resolve(system.mount_name) == {"Fn::ImportValue": "name"}
