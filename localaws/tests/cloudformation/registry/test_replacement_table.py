"""The table of properties that require replacement."""

import json

from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.registry.replacement_table import replacement_table


def test_each_type_has_its_paths_that_always_and_that_sometimes_require_replacement() -> None:
    table = json.loads(replacement_table())

    always, sometimes = table["AWS::EC2::Subnet"]
    assert {"VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId", "OutpostArn"} <= set(always)
    assert {"MapPublicIpOnLaunch", "Tags", "AssignIpv6AddressOnCreation"}.isdisjoint(always + sometimes)
    assert sometimes == ["Ipv6CidrBlock"]
    assert always == sorted(always)
    assert {"KmsKeyId", "SubnetIds", "FileSystemType"} <= set(table["AWS::FSx::FileSystem"][0])


def test_only_services_of_clusters_are_in_the_table() -> None:
    services = {name.split("::")[1] for name in json.loads(replacement_table())}

    assert {"Batch", "EC2", "FSx"} <= services
    assert "Route53" not in services
    assert any(name.startswith("AWS::Route53::") for name in schemas.type_names())


def test_each_type_is_one_line_so_that_an_upgrade_shows_what_changed() -> None:
    text = replacement_table()

    assert len(text.splitlines()) == len(json.loads(text)) + 2
