"""Rollouts that choose their storage: synthesized, linted, deployed to the local AWS, read back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cfn_lint import lint
from tests.unit.stacks.conftest import QUICKSTART, synthesized_templates

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly, read_assembly
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.synthesis.in_process import synthesize

pytestmark = pytest.mark.synth

REGION = "us-east-2"
_KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
_JOBS = "        jobs:\n"


def _assembly(directory: Path, storage: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CDK_VALIDATION", "false")
    text = QUICKSTART.read_text()
    before = text[: text.index("        file_system:\n")]
    path = directory / "rollout.yaml"
    path.write_text(before + storage + text[text.index(_JOBS) :])
    synthesize(load_rollout(path).config.clusters(), directory / "cdk.out")
    return directory / "cdk.out"


def _of_type(assembly: Path, resource_type: str) -> list[Mapping[str, Any]]:
    return [
        resource
        for template in synthesized_templates(assembly)
        for resource in template["Resources"].values()
        if resource["Type"] == resource_type
    ]


@pytest.mark.deploy
def test_a_rollout_joins_datasets_and_brings_buckets(
    local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assembly = _assembly(
        tmp_path,
        f"""\
        file_system:
          deployment_type: SCRATCH_2
          storage_capacity_gib: 2400
          associations:
            - file_system_path: /results
              data_repository_path: s3://results-of-all/quickstart/
              import_events: []
        checkpoints: {{bucket_name: our-checkpoints, kms_key_arn: '{_KEY}'}}
        datasets:
          - {{name: c4, bucket_name: corpora, file_system_path: /datasets/c4}}
          - {{name: own, noncurrent_days: 7, file_system_path: /datasets/own}}
          - {{name: on-s3}}
        compile_cache: {{replicate_to: [cache-of-melbourne]}}
""",
        monkeypatch,
    )
    for stack in read_assembly(assembly):
        assert [str(each) for each in lint(stack.template.read_text(), regions=[REGION])] == []
    melbourne = local_aws.client("s3", "ap-southeast-4")
    melbourne.create_bucket(
        Bucket="cache-of-melbourne",
        CreateBucketConfiguration={"LocationConstraint": "ap-southeast-4"},
    )
    melbourne.put_bucket_versioning(
        Bucket="cache-of-melbourne", VersioningConfiguration={"Status": "Enabled"}
    )
    assert {each.status for each in deploy_assembly(local_aws, assembly)} == {"CREATE_COMPLETE"}
    fsx = local_aws.client("fsx", REGION)
    (system,) = fsx.describe_file_systems()["FileSystems"]
    assert system["LustreConfiguration"]["DeploymentType"] == "SCRATCH_2"
    assert system["StorageCapacity"] == 2400
    joined = {
        each["FileSystemPath"]: each for each in fsx.describe_data_repository_associations()["Associations"]
    }
    assert set(joined) == {"/checkpoints", "/results", "/datasets/c4", "/datasets/own"}
    assert joined["/checkpoints"]["DataRepositoryPath"] == "s3://our-checkpoints"
    assert joined["/results"]["S3"] == {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}
    assert joined["/datasets/c4"]["DataRepositoryPath"] == "s3://corpora"
    assert joined["/datasets/own"]["S3"] == {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}}
    s3 = local_aws.client("s3", REGION)
    copied = {
        bucket["Name"]: s3.get_bucket_replication(Bucket=bucket["Name"])["ReplicationConfiguration"]["Rules"]
        for bucket in s3.list_buckets()["Buckets"]
        if "compilecache" in bucket["Name"]
    }
    ((cache, (rule,)),) = copied.items()
    assert rule["Destination"] == {"Bucket": "arn:aws:s3:::cache-of-melbourne"}
    assert (rule["Filter"], rule["DeleteMarkerReplication"]) == (
        {"Prefix": "neuron/"},
        {"Status": "Disabled"},
    )
    assert s3.get_bucket_versioning(Bucket=cache)["Status"] == "Enabled"
    policies = str([_of_type(assembly, kind) for kind in ("AWS::IAM::Policy", "AWS::IAM::Role")])
    assert "corpora/*" in policies
    assert _KEY in policies
    assert {each.status for each in destroy_assembly(local_aws, assembly)} == {"DELETE_COMPLETE"}


def test_a_rollout_brings_its_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assembly = _assembly(
        tmp_path,
        """\
        file_system:
          file_system_id: fs-0123456789abcdef0
          mount_name: abcdefgh
          zone_id: use2-az3
          security_group_id: sg-0123456789abcdef0
""",
        monkeypatch,
    )
    assert _of_type(assembly, "AWS::FSx::FileSystem") == []
    assert _of_type(assembly, "AWS::FSx::DataRepositoryAssociation") == []
    (template,) = _of_type(assembly, "AWS::EC2::LaunchTemplate")
    assert "fs-0123456789abcdef0.fsx.us-east-2." in str(template)
    rules = _of_type(assembly, "AWS::EC2::SecurityGroupIngress")
    assert [each["Properties"]["GroupId"] for each in rules].count("sg-0123456789abcdef0") == 2


def test_a_rollout_has_a_file_system_that_tiers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assembly = _assembly(
        tmp_path,
        f"""\
        file_system:
          storage_type: INTELLIGENT_TIERING
          throughput_capacity: 8000
          read_cache: USER_PROVISIONED
          read_cache_gib: 64
          link_checkpoints: false
          kms_key_arn: {_KEY}
          backup_retention_days: 7
          backup_start_time: "03:30"
""",
        monkeypatch,
    )
    (system,) = _of_type(assembly, "AWS::FSx::FileSystem")
    assert system["Properties"]["KmsKeyId"] == _KEY
    assert system["Properties"]["LustreConfiguration"] == {
        "AutomaticBackupRetentionDays": 7,
        "DailyAutomaticBackupStartTime": "03:30",
        "DataCompressionType": "LZ4",
        "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64},
        "DeploymentType": "PERSISTENT_2",
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
        "ThroughputCapacity": 8000,
    }
    assert _of_type(assembly, "AWS::FSx::DataRepositoryAssociation") == []
