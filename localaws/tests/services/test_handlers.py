"""Names of service-linked roles, and the judge of what handlers answer."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.answers import objections

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def test_service_linked_roles_have_their_names(local_aws: LocalAws) -> None:
    iam = local_aws.client("iam")
    names = [
        iam.create_service_linked_role(AWSServiceName=f"{service}.amazonaws.com")["Role"]["RoleName"]
        for service in ("batch", "fsx", "spot", "acm", "ec2.application-autoscaling")
    ]
    assert names == [
        "AWSServiceRoleForBatch",
        "AWSServiceRoleForAmazonFSx",
        "AWSServiceRoleForEC2Spot",
        # localstack/localstack, tests/aws/services/iam/test_iam.snapshot.json
        "AWSServiceRoleForCertificateManager",
        "AWSServiceRoleForApplicationAutoScaling_EC2SpotFleetRequest",
    ]
    (policy,) = iam.list_attached_role_policies(RoleName=names[3])["AttachedPolicies"]
    assert (
        policy["PolicyArn"] == "arn:aws:iam::aws:policy/aws-service-role/CertificateManagerServiceRolePolicy"
    )
    with pytest.raises(ClientError, match="has been taken in this account, please try a different suffix"):
        iam.create_service_linked_role(AWSServiceName="batch.amazonaws.com")


@pytest.mark.parametrize(
    ("event", "objection"),
    [
        ({"ResourceStatus": "CREATE_COMPLETE"}, ""),
        ({"ResourceStatus": "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"}, ""),
        ({"ResourceStatus": "CREATED"}, "StackEvents.ResourceStatus: 'CREATED' is none of"),
        ({"Status": "CREATE_COMPLETE"}, 'Unknown parameter in StackEvents[0]: "Status"'),
        ({"StackName": 1}, "Invalid type for parameter StackEvents[0].StackName"),
    ],
)
def test_an_answer_has_members_and_values_of_its_model(event: dict[str, Any], objection: str) -> None:
    found = " ".join(objections("cloudformation", "DescribeStackEvents", {"StackEvents": [event]}))

    assert (objection in found) if objection else found == ""
