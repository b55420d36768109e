"""What is bounded, under a path and encrypted is so after a deployment, too."""

from collections.abc import Iterator

import pytest
from tests.security.everything import BOUNDARY, KEY, PATH, REGION
from tests.security.nag import Nagged

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly

pytestmark = [pytest.mark.synth, pytest.mark.deploy]


@pytest.fixture(scope="module")
def deployed(local_aws_server: LocalAws, everything: Nagged) -> Iterator[LocalAws]:
    """The bounded cluster, deployed."""
    local_aws_server.reset()
    local_aws_server.client("iam", REGION).create_policy(
        PolicyName=BOUNDARY,
        PolicyDocument='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}',
    )
    stacks = deploy_assembly(local_aws_server, everything.assembly / "assembly-bounded-us-east-2")
    assert [f"{each.name}: {each.reason}" for each in stacks if each.status != "CREATE_COMPLETE"] == []
    yield local_aws_server
    local_aws_server.reset()


def test_roles_are_bounded_and_nodes_find_theirs_under_the_path(deployed: LocalAws) -> None:
    iam = deployed.client("iam", REGION)
    roles = [each for each in iam.list_roles()["Roles"] if each["RoleName"].startswith("bounded")]
    assert len(roles) >= 15
    assert {each["Path"] for each in roles} == {PATH}
    one = iam.get_role(RoleName=roles[0]["RoleName"])["Role"]
    assert one["PermissionsBoundary"]["PermissionsBoundaryArn"].endswith(f":policy/{BOUNDARY}")
    environments = deployed.client("batch", REGION).describe_compute_environments()["computeEnvironments"]
    arns = {each["computeResources"]["instanceRole"] for each in environments}
    assert len(arns) == 2
    assert all(f":instance-profile{PATH}" in each for each in arns)
    names = {each.rpartition("/")[2] for each in arns}
    held = [iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"] for name in names]
    assert all(each["Roles"][0]["Arn"].partition(":role")[2].startswith(PATH) for each in held)


def test_the_key_is_that_of_file_system_volumes_logs_topics_and_buckets(deployed: LocalAws) -> None:
    (file_system,) = deployed.client("fsx", REGION).describe_file_systems()["FileSystems"]
    assert file_system["KmsKeyId"] == KEY
    logs = deployed.client("logs", REGION).describe_log_groups()["logGroups"]
    assert {each["kmsKeyId"] for each in logs if each["logGroupName"].startswith("bounded")} == {KEY}
    sns = deployed.client("sns", REGION)
    topics = [each["TopicArn"] for each in sns.list_topics()["Topics"]]
    shown = {sns.get_topic_attributes(TopicArn=each)["Attributes"]["KmsMasterKeyId"] for each in topics}
    assert shown == {KEY}
    s3 = deployed.client("s3", REGION)
    for bucket in s3.list_buckets()["Buckets"]:
        if bucket["Name"].startswith("bounded"):
            (rule,) = s3.get_bucket_encryption(Bucket=bucket["Name"])["ServerSideEncryptionConfiguration"][
                "Rules"
            ]
            assert rule["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"] == KEY
    ec2 = deployed.client("ec2", REGION)
    for template in ec2.describe_launch_templates()["LaunchTemplates"]:
        (version,) = ec2.describe_launch_template_versions(LaunchTemplateId=template["LaunchTemplateId"])[
            "LaunchTemplateVersions"
        ]
        (disk,) = version["LaunchTemplateData"]["BlockDeviceMappings"]
        assert (disk["Ebs"]["Encrypted"], disk["Ebs"]["KmsKeyId"]) == (True, KEY)
