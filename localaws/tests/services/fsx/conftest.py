"""FSx with a subnet and buckets."""

from typing import Any

import pytest
from tests.services.fsx.file_system_calls import NETWORK

from ultracluster_local import LocalAws


@pytest.fixture
def fsx(local_aws: LocalAws) -> Any:
    """Make a subnet whose default security group admits itself, and the buckets that associations name."""
    ec2 = local_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    for name in ("bucket", "other", "ninth", *(f"other{index}" for index in range(7))):
        local_aws.client("s3").create_bucket(Bucket=name)
    NETWORK["SubnetIds"] = [subnet]
    return local_aws.client("fsx")
