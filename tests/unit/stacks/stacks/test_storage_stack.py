from pathlib import Path

import pytest
from tests.cfn_lint import lint
from tests.unit.stacks.storage_rollouts import resources_of_type, synthesized_with_storage

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly, read_assembly

pytestmark = pytest.mark.slow

REGION = "us-east-2"
_KEY = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.slow
def test_a_rollout_joins_datasets_and_brings_buckets(local_aws: LocalAws, tmp_path: Path) -> None:
    assembly = synthesized_with_storage(
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
    policies = str([resources_of_type(assembly, kind) for kind in ("AWS::IAM::Policy", "AWS::IAM::Role")])
    assert "corpora/*" in policies
    assert _KEY in policies
    assert {each.status for each in destroy_assembly(local_aws, assembly)} == {"DELETE_COMPLETE"}
