"""Names of service-linked roles."""

import pytest

from ultracluster_local import LocalAws

pytestmark = pytest.mark.deploy


def test_service_linked_roles_have_their_names(local_aws: LocalAws) -> None:
    iam = local_aws.client("iam")
    names = [
        iam.create_service_linked_role(AWSServiceName=f"{service}.amazonaws.com")["Role"]["RoleName"]
        for service in ("batch", "fsx", "spot")
    ]
    assert names == ["AWSServiceRoleForBatch", "AWSServiceRoleForAmazonFSx", "AWSServiceRoleForEC2Spot"]
