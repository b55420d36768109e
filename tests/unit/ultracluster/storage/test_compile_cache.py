"""A compile cache has a prefix of its bucket, expires entries of retired compilers, and is copied to other Regions."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import of_type, only
from tests.unit.ultracluster.storage.bucket_grants import allowed, role
from tests.unit.ultracluster.storage.compile_caches import rules

from ultracluster import CompileCache
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

# Folders as compilers name them: Neuron documentation of the persistent cache, optimum-neuron-cache on Hugging Face.
FOLDERS = (
    "neuronxcc-2.1.0.76+2f",
    "neuronxcc-2.19.8089.0+8ab",
    "neuronxcc-2.19.8089.1+8ab",
    "neuronxcc-2.2.0.1+1",
)


def reading_role(stack: cdk.Stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))


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
def test_rejects_an_invalid_compiler_version(stack: cdk.Stack, version: str) -> None:
    with pytest.raises(FindingsError, match=r"UC6014: \S+: expire_compilers"):
        CompileCache(stack, "Cache", expire_compilers={version: cdk.Duration.days(30)})


def test_counts_requests_only_when_asked(stack: cdk.Stack) -> None:
    cache = CompileCache(stack, "Cache")
    assert "MetricsConfigurations" not in only(stack, "AWS::S3::Bucket")
    for metric in (cache.metric_hits, cache.metric_misses, cache.metric_stored):
        with pytest.raises(FindingsError, match=r"UC6015.*request_metrics=True"):
            metric()


def test_a_bucket_that_exists_is_used_under_its_prefix(stack: cdk.Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Shared", "shared-cache")
    cache = CompileCache.from_bucket(stack, "Cache", bucket, prefix="team-a/neuron")
    cache.grant_use(reading_role(stack)).assert_success()
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
    CompileCache.from_bucket(stack, "Cache", bucket).grant_use(reading_role(stack)).assert_success()
    statements = only(stack, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    assert {
        "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
        "Effect": "Allow",
        "Resource": arn,
    } in statements


@pytest.mark.parametrize("prefix", ["", "/neuron", "neuron/"])
def test_rejects_a_prefix_that_would_not_be_the_granted_one(stack: cdk.Stack, prefix: str) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Shared", "shared-cache")
    with pytest.raises(FindingsError, match=r"UC6014: \S+: prefix"):
        CompileCache.from_bucket(stack, "Cache", bucket, prefix=prefix)


def test_the_cache_is_used_under_its_prefix_only(stack: cdk.Stack) -> None:
    CompileCache(stack, "Cache").grant_use(role(stack)).assert_success()
    objects = [resource for actions, resource in allowed(stack) if "s3:GetObject" in actions]
    assert len(objects) == 1
    assert "/neuron/*" in objects[0]


def test_the_environment_contains_the_address_in_one_form_only(stack: cdk.Stack) -> None:
    cache = CompileCache(stack, "Cache")
    assert stack.resolve(cache.environment["NEURON_COMPILE_CACHE_URL"]) == stack.resolve(cache.url)
    assert "--cache_dir" not in cache.environment["NEURON_CC_FLAGS"]
    assert "--retry_failed_compilation" in cache.environment["NEURON_CC_FLAGS"]


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


def test_rejects_a_destination_twice_and_one_with_a_key(stack: cdk.Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:us-east-2:123456789012:key/{'0' * 8}")
    with_key = s3.Bucket.from_bucket_attributes(stack, "WithKey", bucket_name="secret", encryption_key=key)
    with pytest.raises(FindingsError) as refused:
        CompileCache(stack, "Cache", replicate_to=[*copies(stack, "melbourne", "melbourne"), with_key])

    assert [(one.code, one.path) for one in refused.value.findings] == [
        ("UC5140", "replicate_to[1]"),
        ("UC5141", "replicate_to[2]"),
    ]
