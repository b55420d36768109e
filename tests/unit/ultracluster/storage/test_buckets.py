import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import of_type, only

from ultracluster import CheckpointBucket, CompileCache, DatasetBucket

pytestmark = pytest.mark.synth


def role(stack: cdk.Stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))


def allowed(stack: cdk.Stack) -> list[tuple[list[str], str]]:
    statements = only(stack, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    return [
        ([each["Action"]] if isinstance(each["Action"], str) else each["Action"], str(each["Resource"]))
        for each in statements
    ]


@pytest.mark.parametrize("construct", [CheckpointBucket, CompileCache, DatasetBucket])
def test_is_private_encrypted_tls_only_and_kept(
    stack: cdk.Stack, construct: type[CheckpointBucket] | type[CompileCache] | type[DatasetBucket]
) -> None:
    construct(stack, "Bucket")
    (bucket,) = of_type(stack, "AWS::S3::Bucket")
    assert (bucket["DeletionPolicy"], bucket["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert all(bucket["Properties"]["PublicAccessBlockConfiguration"].values())
    assert len(bucket["Properties"]["PublicAccessBlockConfiguration"]) == 4
    assert bucket["Properties"]["BucketEncryption"]
    assert "BucketName" not in bucket["Properties"]
    denied = only(stack, "AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"]
    assert {"Bool": {"aws:SecureTransport": "false"}} in [each["Condition"] for each in denied]
    assert {each["Effect"] for each in denied} == {"Deny"}


def test_checkpoints_have_versions_and_current_ones_never_expire(stack: cdk.Stack) -> None:
    CheckpointBucket(stack, "Bucket")
    properties = only(stack, "AWS::S3::Bucket")
    assert properties["VersioningConfiguration"] == {"Status": "Enabled"}
    for rule in properties["LifecycleConfiguration"]["Rules"]:
        assert not {"ExpirationInDays", "ExpirationDate", "ExpiredObjectDeleteMarker"} & rule.keys()


def test_the_cache_never_expires_unless_asked(stack: cdk.Stack) -> None:
    CompileCache(stack, "Default")
    CompileCache(stack, "Short", expire_after=cdk.Duration.days(30))
    rules = [
        each["Properties"]["LifecycleConfiguration"]["Rules"][0] for each in of_type(stack, "AWS::S3::Bucket")
    ]
    assert [rule.get("ExpirationInDays") for rule in rules] == [None, 30]


def test_no_grant_allows_deleting_a_checkpoint_or_a_cache_entry(stack: cdk.Stack) -> None:
    grantee = role(stack)
    CheckpointBucket(stack, "Checkpoints").grant_use(grantee).assert_success()
    CompileCache(stack, "Cache").grant_use(grantee).assert_success()
    actions = {action for statement, _ in allowed(stack) for action in statement}
    assert actions == {"s3:AbortMultipartUpload", "s3:GetObject", "s3:ListBucket", "s3:PutObject"}


def test_the_cache_is_used_under_its_prefix_only(stack: cdk.Stack) -> None:
    CompileCache(stack, "Cache").grant_use(role(stack)).assert_success()
    objects = [resource for actions, resource in allowed(stack) if "s3:GetObject" in actions]
    assert len(objects) == 1
    assert "/neuron/*" in objects[0]


def test_the_environment_gives_the_address_in_one_way_only(stack: cdk.Stack) -> None:
    cache = CompileCache(stack, "Cache")
    assert stack.resolve(cache.environment["NEURON_COMPILE_CACHE_URL"]) == stack.resolve(cache.url)
    assert "--cache_dir" not in cache.environment["NEURON_CC_FLAGS"]
    assert "--retry_failed_compilation" in cache.environment["NEURON_CC_FLAGS"]


def key(stack: cdk.Stack) -> kms.IKey:
    return kms.Key.from_key_arn(
        stack, "Key", "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    )


@pytest.mark.parametrize(("construct", "days"), [(CheckpointBucket, 30), (DatasetBucket, 90)])
def test_replaced_versions_go_after_a_while_and_later_on_request(
    stack: cdk.Stack, construct: type[CheckpointBucket] | type[DatasetBucket], days: int
) -> None:
    construct(stack, "Default")
    construct(stack, "Long", noncurrent_version_expiration=cdk.Duration.days(365))
    rules = [
        each["Properties"]["LifecycleConfiguration"]["Rules"][0]["NoncurrentVersionExpiration"]
        for each in of_type(stack, "AWS::S3::Bucket")
    ]
    assert [rule["NoncurrentDays"] for rule in rules] == [days, 365]


@pytest.mark.parametrize("construct", [CheckpointBucket, DatasetBucket])
def test_objects_are_encrypted_with_a_customer_managed_key(
    stack: cdk.Stack, construct: type[CheckpointBucket] | type[DatasetBucket]
) -> None:
    construct(stack, "Bucket", kms_key=key(stack))
    (rule,) = only(stack, "AWS::S3::Bucket")["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["BucketKeyEnabled"] is True
    assert rule["ServerSideEncryptionByDefault"] == {
        "SSEAlgorithm": "aws:kms",
        "KMSMasterKeyID": key_arn(stack),
    }


def key_arn(stack: cdk.Stack) -> str:
    return str(stack.node.find_child("Key").key_arn)


@pytest.mark.parametrize(
    ("construct", "uses"),
    [(DatasetBucket, {"kms:Decrypt"}), (CheckpointBucket, {"kms:Decrypt", "kms:GenerateDataKey"})],
)
def test_jobs_use_the_key_of_a_bucket_for_what_they_may_do_with_it(
    stack: cdk.Stack, construct: type[CheckpointBucket] | type[DatasetBucket], uses: set[str]
) -> None:
    bucket = construct(stack, "Bucket", kms_key=key(stack))
    grant = bucket.grant_read if isinstance(bucket, DatasetBucket) else bucket.grant_use
    grant(role(stack)).assert_success()
    assert {action for actions, on in allowed(stack) if on == key_arn(stack) for action in actions} == uses


def test_jobs_read_a_dataset_and_change_nothing(stack: cdk.Stack) -> None:
    DatasetBucket(stack, "Data").grant_read(role(stack)).assert_success()
    assert {action for statement, _ in allowed(stack) for action in statement} == {
        "s3:GetObject",
        "s3:ListBucket",
    }


def test_a_dataset_moves_to_cheaper_storage_only_on_request(stack: cdk.Stack) -> None:
    DatasetBucket(stack, "Default")
    DatasetBucket(stack, "Cold", infrequent_access_after=cdk.Duration.days(30))
    rules = [
        each["Properties"]["LifecycleConfiguration"]["Rules"][0] for each in of_type(stack, "AWS::S3::Bucket")
    ]
    assert [rule.get("Transitions") for rule in rules] == [
        None,
        [{"StorageClass": "STANDARD_IA", "TransitionInDays": 30}],
    ]


@pytest.mark.parametrize("construct", [CheckpointBucket, DatasetBucket])
def test_an_existing_bucket_is_used_as_it_is(
    stack: cdk.Stack, construct: type[CheckpointBucket] | type[DatasetBucket]
) -> None:
    bucket = s3.Bucket.from_bucket_attributes(stack, "Ours", bucket_name="ours", encryption_key=key(stack))
    brought = construct.from_bucket(stack, "Bucket", bucket)
    assert brought.bucket.bucket_name == "ours"
    grant = brought.grant_read if isinstance(brought, DatasetBucket) else brought.grant_use
    grant(role(stack)).assert_success()
    assert of_type(stack, "AWS::S3::Bucket") == []
    assert any(on == key_arn(stack) for _, on in allowed(stack))


@pytest.mark.parametrize("construct", [CheckpointBucket, CompileCache, DatasetBucket])
def test_is_deleted_with_its_stack_on_request(
    stack: cdk.Stack, construct: type[CheckpointBucket] | type[CompileCache] | type[DatasetBucket]
) -> None:
    construct(stack, "Bucket", removal_policy=cdk.RemovalPolicy.DESTROY)
    (bucket,) = of_type(stack, "AWS::S3::Bucket")
    assert (bucket["DeletionPolicy"], bucket["UpdateReplacePolicy"]) == ("Delete", "Delete")
