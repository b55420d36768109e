"""Security groups of the local EC2: the default group's own rules."""

import pytest

from ultracluster_local import LocalAws

pytestmark = pytest.mark.deploy


def test_default_group_admits_itself_and_lets_everything_out(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    (group,) = ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["SecurityGroups"]
    (admitted,) = group["IpPermissions"]
    (let_out,) = group["IpPermissionsEgress"]
    assert admitted["IpProtocol"] == let_out["IpProtocol"] == "-1"
    assert [one["GroupId"] for one in admitted["UserIdGroupPairs"]] == [group["GroupId"]]
    assert [one["CidrIp"] for one in let_out["IpRanges"]] == ["0.0.0.0/0"]
