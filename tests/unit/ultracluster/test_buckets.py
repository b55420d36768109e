import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from tests.unit.ultracluster.neighbours import of_type, only

from ultracluster import CheckpointBucket, CompileCache

pytestmark = pytest.mark.synth


def role(stack: cdk.Stack) -> iam.Role:
    return iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))


def allowed(stack: cdk.Stack) -> list[tuple[list[str], str]]:
    statements = only(stack, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    return [
        ([each["Action"]] if isinstance(each["Action"], str) else each["Action"], str(each["Resource"]))
        for each in statements
    ]


@pytest.mark.parametrize("construct", [CheckpointBucket, CompileCache])
def test_is_private_encrypted_tls_only_and_kept(
    stack: cdk.Stack, construct: type[CheckpointBucket] | type[CompileCache]
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


def test_nobody_is_allowed_to_delete_a_checkpoint_or_a_cache_entry(stack: cdk.Stack) -> None:
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
