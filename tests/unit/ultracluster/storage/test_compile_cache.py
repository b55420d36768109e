import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import IMAGE, network, nodes, of_type, only, queue

from ultracluster import CompileCache, PosixCompileCache, SharedFileSystem, SingleNodeJob, TrainingQueue
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth

# Folders as compilers name them: Neuron documentation of the persistent cache, optimum-neuron-cache on Hugging Face.
FOLDERS = (
    "neuronxcc-2.1.0.76+2f",
    "neuronxcc-2.19.8089.0+8ab",
    "neuronxcc-2.19.8089.1+8ab",
    "neuronxcc-2.2.0.1+1",
)


def role(stack: cdk.Stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))


def rules(stack: cdk.Stack) -> list[dict[str, Any]]:
    return list(only(stack, "AWS::S3::Bucket")["LifecycleConfiguration"]["Rules"])


@pytest.mark.parametrize(
    ("version", "removed"),
    [
        ("2.1", [FOLDERS[0]]),
        ("2.19", [FOLDERS[1], FOLDERS[2]]),
        ("2.19.8089.0", [FOLDERS[1]]),
        ("2.2", [FOLDERS[3]]),
    ],
)
def test_entries_of_a_retired_compiler_go_and_no_others(
    stack: cdk.Stack, version: str, removed: list[str]
) -> None:
    CompileCache(stack, "Cache", expire_compilers={version: cdk.Duration.days(30)})
    kept, retired = rules(stack)
    assert (kept["Id"], kept.get("ExpirationInDays")) == ("cache-entries", None)
    assert (retired["Id"], retired["ExpirationInDays"]) == (f"compiler-{version}", 30)
    keys = {folder: f"neuron/{folder}/MODULE_1+2/model.neff" for folder in FOLDERS}
    assert [folder for folder, key in keys.items() if key.startswith(retired["Prefix"])] == removed


@pytest.mark.parametrize("version", ["2", "latest", "2.x", "neuronxcc-2.19", "2.19.", "", "1.2.3.4.5"])
def test_rejects_what_is_no_version_of_a_compiler(stack: cdk.Stack, version: str) -> None:
    with pytest.raises(FindingsError, match="UC6014: expire_compilers"):
        CompileCache(stack, "Cache", expire_compilers={version: cdk.Duration.days(30)})


def test_counts_requests_only_when_asked(stack: cdk.Stack) -> None:
    cache = CompileCache(stack, "Cache")
    assert "MetricsConfigurations" not in only(stack, "AWS::S3::Bucket")
    for metric in (cache.metric_hits, cache.metric_misses, cache.metric_stored):
        with pytest.raises(FindingsError, match=r"UC6015.*request_metrics=True"):
            metric()


def test_hits_misses_and_stored_entries_are_requests_under_the_prefix(stack: cdk.Stack) -> None:
    cache = CompileCache(stack, "Cache", request_metrics=True)
    assert only(stack, "AWS::S3::Bucket")["MetricsConfigurations"] == [
        {"Id": "compile-cache", "Prefix": "neuron/"}
    ]
    metrics = [cache.metric_hits(), cache.metric_misses(), cache.metric_stored()]
    assert [metric.metric_name for metric in metrics] == ["GetRequests", "4xxErrors", "PutRequests"]
    assert all((metric.namespace, metric.statistic) == ("AWS/S3", "Sum") for metric in metrics)
    # Metrics and dimensions, Amazon S3 User Guide: request metrics have BucketName and FilterId.
    dimensions = stack.resolve(metrics[0].dimensions)
    assert dimensions["FilterId"] == "compile-cache"
    assert set(dimensions) == {"BucketName", "FilterId"}


def test_a_bucket_that_exists_is_used_under_its_prefix(stack: cdk.Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Shared", "shared-cache")
    cache = CompileCache.from_bucket(stack, "Cache", bucket, prefix="team-a/neuron")
    cache.grant_use(role(stack)).assert_success()
    assert cache.url == "s3://shared-cache/team-a/neuron"
    assert of_type(stack, "AWS::S3::Bucket") == []
    statements = only(stack, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    assert "shared-cache/team-a/neuron/*" in str(statements[1]["Resource"])
    with pytest.raises(FindingsError, match="UC6015"):
        cache.metric_hits()


def test_the_key_of_a_bucket_that_exists_may_be_used_for_it(stack: cdk.Stack) -> None:
    arn = "arn:aws:kms:us-east-2:123456789012:key/0"
    bucket = s3.Bucket.from_bucket_attributes(
        stack,
        "Shared",
        bucket_name="shared-cache",
        encryption_key=kms.Key.from_key_arn(stack, "Key", arn),
    )
    CompileCache.from_bucket(stack, "Cache", bucket).grant_use(role(stack)).assert_success()
    statements = only(stack, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    assert {
        "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
        "Effect": "Allow",
        "Resource": arn,
    } in statements


@pytest.mark.parametrize("prefix", ["", "/neuron", "neuron/"])
def test_rejects_a_prefix_that_would_not_be_the_granted_one(stack: cdk.Stack, prefix: str) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Shared", "shared-cache")
    with pytest.raises(FindingsError, match="UC6014: prefix"):
        CompileCache.from_bucket(stack, "Cache", bucket, prefix=prefix)


def file_system(stack: cdk.Stack) -> SharedFileSystem:
    return SharedFileSystem(stack, "FileSystem", network=network(stack), mount_path="/fsx")


def test_a_cache_on_the_file_system_has_a_folder_for_each_framework(stack: cdk.Stack) -> None:
    storage = file_system(stack)
    group = nodes(stack, network=stack.node.find_child("Network"), file_system=storage)
    training = TrainingQueue(stack, "Queue", nodes=group, max_nodes=1)
    cache = PosixCompileCache(storage, folder="team/cache")
    job = SingleNodeJob(
        stack, "Train", queue=training, image=IMAGE, command=["train.py"], compile_cache=cache
    )
    assert job.environment.items() >= cache.environment.items()
    assert cache.environment == {
        "JAX_COMPILATION_CACHE_DIR": "/fsx/team/cache/jax",
        "TORCH_NEURONX_NEFF_CACHE_DIR": "/fsx/team/cache/torchneuron",
        "NEURON_LIBTORCH_REMOTE_CACHE": "/fsx/team/cache/vllm",
    }
    # Those flags are of the wrapper around the compiler on XLA; TorchNeuron would hand them to the compiler.
    assert "NEURON_CC_FLAGS" not in job.environment
    assert "NEURON_COMPILE_CACHE_URL" not in job.environment


def test_rejects_a_cache_on_a_file_system_that_the_nodes_do_not_mount(stack: cdk.Stack) -> None:
    cache = PosixCompileCache(file_system(stack))
    training = queue(stack, network=stack.node.find_child("Network"))
    with pytest.raises(FindingsError, match="UC6016: compile_cache: the nodes do not mount"):
        SingleNodeJob(stack, "Train", queue=training, image=IMAGE, command=["train.py"], compile_cache=cache)


@pytest.mark.parametrize("folder", ["", "/compile-cache", "../other", "a/../../b"])
def test_rejects_a_folder_outside_the_file_system(stack: cdk.Stack, folder: str) -> None:
    with pytest.raises(FindingsError, match="UC6016: folder"):
        PosixCompileCache(file_system(stack), folder=folder)


def copies(stack: cdk.Stack, *names: str) -> list[s3.IBucket]:
    return [s3.Bucket.from_bucket_name(stack, f"Copies{index}", name) for index, name in enumerate(names)]


def test_new_entries_are_copied_to_other_regions_and_removals_are_not(stack: cdk.Stack) -> None:
    CompileCache(stack, "Cache", replicate_to=copies(stack, "melbourne", "mumbai"))
    bucket = only(stack, "AWS::S3::Bucket")

    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    rules = bucket["ReplicationConfiguration"]["Rules"]
    assert [rule["DeleteMarkerReplication"] for rule in rules] == [{"Status": "Disabled"}] * 2
    assert [rule["Filter"] for rule in rules] == [{"Prefix": "neuron/"}] * 2
    assert [rule["Priority"] for rule in rules] == [1, 2]
    assert [rule["Destination"]["Bucket"]["Fn::Join"][1][-1] for rule in rules] == [
        ":s3:::melbourne",
        ":s3:::mumbai",
    ]
    assert bucket["LifecycleConfiguration"]["Rules"][0]["NoncurrentVersionExpiration"] == {
        "NoncurrentDays": 7
    }


def test_the_role_of_copies_reads_here_writes_there_and_removes_nothing(stack: cdk.Stack) -> None:
    CompileCache(stack, "Cache", replicate_to=copies(stack, "melbourne"))
    policy = only(stack, "AWS::IAM::Policy")
    allowed = {
        str(action): json.dumps(statement["Resource"])
        for statement in policy["PolicyDocument"]["Statement"]
        for action in statement["Action"]
    }

    assert set(allowed) == {
        "s3:GetReplicationConfiguration",
        "s3:ListBucket",
        "s3:GetObjectVersionForReplication",
        "s3:GetObjectVersionAcl",
        "s3:GetObjectVersionTagging",
        "s3:ReplicateObject",
        "s3:ReplicateTags",
    }
    assert ":s3:::melbourne/neuron/*" in allowed["s3:ReplicateObject"]
    assert "melbourne" not in allowed["s3:GetObjectVersionForReplication"]
    assert only(stack, "AWS::IAM::Role")["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {
        "Service": "s3.amazonaws.com"
    }


def test_a_cache_takes_copies_when_it_is_versioned_and_is_plain_otherwise(stack: cdk.Stack) -> None:
    CompileCache(stack, "Plain")
    CompileCache(stack, "Versioned", versioned=True)
    plain, versioned = (each["Properties"] for each in of_type(stack, "AWS::S3::Bucket"))

    assert "VersioningConfiguration" not in plain
    assert "NoncurrentVersionExpiration" not in plain["LifecycleConfiguration"]["Rules"][0]
    assert versioned["VersioningConfiguration"] == {"Status": "Enabled"}
    assert "ReplicationConfiguration" not in versioned
    assert not of_type(stack, "AWS::IAM::Role")


def test_rejects_a_destination_twice_and_one_with_a_key(stack: cdk.Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:us-east-2:123456789012:key/{'0' * 8}")
    with_key = s3.Bucket.from_bucket_attributes(stack, "WithKey", bucket_name="secret", encryption_key=key)
    with pytest.raises(FindingsError) as refused:
        CompileCache(stack, "Cache", replicate_to=[*copies(stack, "melbourne", "melbourne"), with_key])

    assert [(one.code, one.path) for one in refused.value.findings] == [
        ("UC5140", "replicate_to[1]"),
        ("UC5141", "replicate_to[2]"),
    ]
