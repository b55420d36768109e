"""What is bounded, under a path and encrypted is so after a deployment, too."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.security.everything import ACCOUNT, BOUNDARY, KEY, PATH, REGION
from tests.security.nag import Nagged

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def deployed(
    local_aws_server: LocalAws, everything: Nagged, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LocalAws, str]]:
    """The bounded cluster, deployed with a key that exists."""
    local_aws_server.reset()
    local_aws_server.client("iam", REGION).create_policy(
        PolicyName=BOUNDARY,
        PolicyDocument='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}',
    )
    allowed = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
                "Action": "kms:*",
                "Resource": "*",
            },
            {
                "Effect": "Allow",
                "Principal": {"Service": f"logs.{REGION}.amazonaws.com"},
                "Action": ["kms:Encrypt", "kms:Decrypt"],
                "Resource": "*",
            },
        ],
    }
    created = local_aws_server.client("kms", REGION).create_key(Policy=json.dumps(allowed))
    key = created["KeyMetadata"]["Arn"]
    assembly = Path(shutil.copytree(everything.assembly, tmp_path_factory.mktemp("keyed") / "cdk.out"))
    for template in assembly.rglob("*.template.json"):
        template.write_text(template.read_text().replace(KEY, key))
    stacks = deploy_assembly(local_aws_server, assembly / "assembly-bounded-us-east-2")
    assert [f"{each.name}: {each.reason}" for each in stacks if each.status != "CREATE_COMPLETE"] == []
    yield local_aws_server, key
    local_aws_server.reset()


def test_roles_are_bounded_and_nodes_find_theirs_under_the_path(deployed: tuple[LocalAws, str]) -> None:
    local, _ = deployed
    iam = local.client("iam", REGION)
    roles = [each for each in iam.list_roles()["Roles"] if each["RoleName"].startswith("bounded")]
    assert len(roles) >= 15
    assert {each["Path"] for each in roles} == {PATH}
    one = iam.get_role(RoleName=roles[0]["RoleName"])["Role"]
    assert one["PermissionsBoundary"]["PermissionsBoundaryArn"].endswith(f":policy/{BOUNDARY}")
    environments = local.client("batch", REGION).describe_compute_environments()["computeEnvironments"]
    arns = {each["computeResources"]["instanceRole"] for each in environments}
    assert len(arns) == 2
    assert all(f":instance-profile{PATH}" in each for each in arns)
    names = {each.rpartition("/")[2] for each in arns}
    held = [iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"] for name in names]
    assert all(each["Roles"][0]["Arn"].partition(":role")[2].startswith(PATH) for each in held)


def test_the_key_is_that_of_file_system_volumes_logs_topics_and_buckets(
    deployed: tuple[LocalAws, str],
) -> None:
    local, key = deployed
    (file_system,) = local.client("fsx", REGION).describe_file_systems()["FileSystems"]
    assert file_system["KmsKeyId"] == key
    logs = local.client("logs", REGION).describe_log_groups()["logGroups"]
    assert {each["kmsKeyId"] for each in logs if each["logGroupName"].startswith("bounded")} == {key}
    sns = local.client("sns", REGION)
    topics = [each["TopicArn"] for each in sns.list_topics()["Topics"]]
    shown = {sns.get_topic_attributes(TopicArn=each)["Attributes"]["KmsMasterKeyId"] for each in topics}
    assert shown == {key}
    s3 = local.client("s3", REGION)
    for bucket in s3.list_buckets()["Buckets"]:
        if bucket["Name"].startswith("bounded"):
            (rule,) = s3.get_bucket_encryption(Bucket=bucket["Name"])["ServerSideEncryptionConfiguration"][
                "Rules"
            ]
            assert rule["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"] == key
    ec2 = local.client("ec2", REGION)
    for template in ec2.describe_launch_templates()["LaunchTemplates"]:
        (version,) = ec2.describe_launch_template_versions(LaunchTemplateId=template["LaunchTemplateId"])[
            "LaunchTemplateVersions"
        ]
        (disk,) = version["LaunchTemplateData"]["BlockDeviceMappings"]
        assert (disk["Ebs"]["Encrypted"], disk["Ebs"]["KmsKeyId"]) == (True, key)
