"""What an account has: quotas, what its roles may do, members of its resource groups; through boto3."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.servicequotas.resources.default_quotas.vpc import VPC_DEFAULT_QUOTAS

from ultracluster_catalog.limits.service_quotas import SERVICE_QUOTAS
from ultracluster_local import LocalAws
from ultracluster_local.seeding.seed_client import SeedContainerImage, seed
from ultracluster_local.services.service_quotas import set_quota

pytestmark = pytest.mark.deploy

TRN2_BLOCKS = {"ServiceCode": "ec2", "QuotaCode": "L-64569A79"}


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_a_quota_is_the_default_until_the_account_has_its_own(local_aws: LocalAws) -> None:
    quotas = local_aws.client("service-quotas")
    vpcs = {"ServiceCode": "vpc", "QuotaCode": "L-F678F1CE"}
    assert quotas.get_service_quota(**vpcs)["Quota"]["Value"] == 5.0
    set_quota(region="us-east-1", service="vpc", code="L-F678F1CE", value=9)
    assert quotas.get_service_quota(**vpcs)["Quota"]["Value"] == 9.0
    assert quotas.get_aws_default_service_quota(**vpcs)["Quota"]["Value"] == 5.0
    assert local_aws.client("service-quotas", "us-east-2").get_service_quota(**vpcs)["Quota"]["Value"] == 5.0


def test_the_quota_on_blocks_is_that_of_the_market(local_aws: LocalAws) -> None:
    quotas = local_aws.client("service-quotas")
    local_aws.capacity_market().block_quota_vcpus = 0
    assert quotas.get_service_quota(**TRN2_BLOCKS)["Quota"]["Value"] == 0.0


def test_quotas_are_listed_in_pages_and_unknown_ones_refused(local_aws: LocalAws) -> None:
    quotas = local_aws.client("service-quotas")
    pages = quotas.get_paginator("list_service_quotas").paginate(
        ServiceCode="ec2", PaginationConfig={"PageSize": 4}
    )
    listed = [quota["QuotaCode"] for page in pages for quota in page["Quotas"]]
    assert "L-64569A79" in listed
    assert len(listed) == len(set(listed)) > 10
    with pytest.raises(ClientError) as error:
        quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-00000000")
    assert code(error) == "NoSuchResourceException"


def test_the_catalogue_agrees_with_the_defaults_that_moto_recorded() -> None:
    recorded = {quota["QuotaCode"]: quota for quota in VPC_DEFAULT_QUOTAS}
    ours = [quota for quota in SERVICE_QUOTAS.values() if quota.service == "vpc"]
    assert len(ours) == 3
    for quota in ours:
        row = recorded[quota.code]
        assert (quota.name, quota.default, quota.adjustable) == (
            row["QuotaName"],
            row["Value"],
            row["Adjustable"],
        )


ROLE = "arn:aws:iam::123456789012:role/r"


@pytest.fixture
def iam(local_aws: LocalAws) -> Any:
    client = local_aws.client("iam")
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    client.create_role(RoleName="r", AssumeRolePolicyDocument=trust)
    return client


def allow(iam: Any, *statements: dict[str, Any]) -> None:
    policy = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    iam.put_role_policy(RoleName="r", PolicyName="p", PolicyDocument=policy)


def decisions(iam: Any, *actions: str, resources: tuple[str, ...] = ("*",)) -> list[str]:
    answer = iam.simulate_principal_policy(
        PolicySourceArn=ROLE, ActionNames=list(actions), ResourceArns=list(resources)
    )
    return [result["EvalDecision"] for result in answer["EvaluationResults"]]


def test_nothing_said_denies_and_a_denial_wins(iam: Any) -> None:
    assert decisions(iam, "s3:GetObject") == ["implicitDeny"]
    everything = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    allow(iam, everything, {"Effect": "Deny", "Action": ["S3:Delete*"], "Resource": "*"})
    assert decisions(iam, "s3:GetObject", "s3:DeleteObject") == ["allowed", "explicitDeny"]


def test_resources_are_told_apart(iam: Any) -> None:
    allow(iam, {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"})
    both = ("arn:aws:s3:::b/x", "arn:aws:s3:::c/x")
    assert decisions(iam, "s3:GetObject", resources=both) == ["allowed", "implicitDeny"]


def test_a_boundary_limits_what_policies_allow(iam: Any) -> None:
    statement = {"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}
    boundary = iam.create_policy(
        PolicyName="b", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )["Policy"]["Arn"]
    allow(iam, {"Effect": "Allow", "Action": "*", "Resource": "*"})
    iam.put_role_permissions_boundary(RoleName="r", PermissionsBoundary=boundary)
    assert decisions(iam, "ec2:RunInstances", "s3:GetObject") == ["allowed", "implicitDeny"]


def test_attached_policies_count(iam: Any) -> None:
    statement = {"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}
    attached = iam.create_policy(
        PolicyName="a", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )["Policy"]["Arn"]
    iam.attach_role_policy(RoleName="r", PolicyArn=attached)
    assert decisions(iam, "ec2:RunInstances", "s3:GetObject") == ["allowed", "implicitDeny"]


def test_what_is_not_simulated_is_refused_by_name(iam: Any) -> None:
    condition = {"StringEquals": {"aws:RequestedRegion": "us-east-2"}}
    allow(iam, {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": condition})
    with pytest.raises(ClientError, match="Condition"):
        decisions(iam, "s3:GetObject")
    with pytest.raises(ClientError) as error:
        iam.simulate_principal_policy(PolicySourceArn=f"{ROLE}-other", ActionNames=["s3:GetObject"])
    assert code(error) == "NoSuchEntity"


def test_the_roles_of_the_bootstrap_are_there_with_their_power(local_aws: LocalAws) -> None:
    iam = local_aws.client("iam", "us-east-2")
    answer = iam.simulate_principal_policy(
        PolicySourceArn="arn:aws:iam::123456789012:role/cdk-hnb659fds-cfn-exec-role-123456789012-us-east-2",
        ActionNames=["ec2:CreateVpc"],
    )
    assert answer["EvaluationResults"][0]["EvalDecision"] == "allowed"
    iam.get_role(RoleName="cdk-hnb659fds-deploy-role-123456789012-us-east-2")


def test_service_linked_roles_have_their_names(local_aws: LocalAws) -> None:
    iam = local_aws.client("iam")
    names = [
        iam.create_service_linked_role(AWSServiceName=f"{service}.amazonaws.com")["Role"]["RoleName"]
        for service in ("batch", "fsx", "spot")
    ]
    assert names == ["AWSServiceRoleForBatch", "AWSServiceRoleForAmazonFSx", "AWSServiceRoleForEC2Spot"]


def test_members_of_a_group_come_and_go(local_aws: LocalAws) -> None:
    groups = local_aws.client("resource-groups")
    group = groups.create_group(Name="g", Configuration=[{"Type": "AWS::EC2::CapacityReservationPool"}])[
        "Group"
    ]["GroupArn"]
    arns = [f"arn:aws:ec2:us-east-1:123456789012:capacity-reservation/cr-{n}" for n in "ab"]
    groups.group_resources(Group="g", ResourceArns=arns)
    groups.ungroup_resources(Group=group, ResourceArns=arns[:1])
    shown = groups.list_group_resources(Group=group)["Resources"]
    assert [one["Identifier"]["ResourceArn"] for one in shown] == arns[1:]
    with pytest.raises(ClientError) as error:
        groups.list_group_resources(Group="nobody")
    assert code(error) == "NotFoundException"


def test_container_images_are_seeded_once(local_aws: LocalAws) -> None:
    ecr = local_aws.client("ecr")
    for tag in ("one", "two", "two"):
        wanted = SeedContainerImage(repository="training", tag=tag, region="us-east-1")
        seed(endpoint=local_aws.endpoint, regions=["us-east-1"], container_images=[wanted])
    tags = [image["imageTag"] for image in ecr.list_images(repositoryName="training")["imageIds"]]
    assert sorted(tags) == ["one", "two"]
