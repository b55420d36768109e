import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from tests.unit.ultracluster.builders import new_stack, of_type

from ultracluster import RolePath
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_reaches_every_role_and_profile_of_its_scope_from_any_construct_at_any_time() -> None:
    stack = new_stack()
    cdk.Aspects.of(stack).add(RolePath("/training/"))
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    iam.CfnInstanceProfile(stack, "Profile", roles=[role.role_name])
    iam.ManagedPolicy(
        stack, "Policy", statements=[iam.PolicyStatement(actions=["s3:ListBucket"], resources=["*"])]
    )
    # How the CDK's own custom resources define theirs.
    cdk.CfnResource(stack, "Raw", type="AWS::IAM::Role", properties={"AssumeRolePolicyDocument": {}})
    kinds = ("AWS::IAM::Role", "AWS::IAM::InstanceProfile", "AWS::IAM::ManagedPolicy")
    made = [each["Properties"]["Path"] for kind in kinds for each in of_type(stack, kind)]
    assert made == ["/training/"] * 4


@pytest.mark.parametrize("path", ["training", "/", "/training", "//", "/a b/", ""])
def test_rejects_a_malformed_path(path: str) -> None:
    with pytest.raises(FindingsError, match="UC2261"):
        RolePath(path)
