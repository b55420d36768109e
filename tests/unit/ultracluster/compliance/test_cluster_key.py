"""A key of one's own in every part that keeps something; tests/security/test_keys.py judges whole clusters."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match
from tests.unit.ultracluster.builders import new_stack, of_type, only, ultra_cluster

import ultracluster as uc
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

ARN = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


def _cluster(stack: cdk.Stack, construct_id: str, key: kms.IKey) -> uc.UltraCluster:
    return ultra_cluster(stack, construct_id, node_count=1, cluster_name=construct_id.lower(), kms_key=key)


def test_a_key_of_the_app_lets_the_services_use_it_as_a_cluster_key_does() -> None:
    ours, theirs = new_stack(), new_stack()
    _cluster(ours, "Cluster", uc.ClusterKey(ours, "Key").key)
    key = kms.Key(theirs, "Key")
    _cluster(theirs, "Cluster", key)
    _cluster(theirs, "Another", key)

    policies = [only(stack, "AWS::KMS::Key")["KeyPolicy"]["Statement"] for stack in (ours, theirs)]

    principals = {each["Sid"]: each["Principal"] for each in policies[0] if "Sid" in each}
    assert {name: principals[name] for name in ("Alarms", "Budgets", "Events")} == {
        "Alarms": {"Service": "cloudwatch.amazonaws.com"},
        "Budgets": {"Service": "budgets.amazonaws.com"},
        "Events": {"Service": "events.amazonaws.com"},
    }
    assert policies[0] == policies[1], "and each statement once, however many clusters use the key"
    assert Annotations.from_stack(theirs).find_warning("*", Match.string_like_regexp("UC5251")) == []


def test_an_imported_key_is_warned_of_because_no_node_starts_without_its_policy() -> None:
    stack = new_stack()
    _cluster(stack, "Cluster", kms.Key.from_key_arn(stack, "Theirs", ARN))
    (warning,) = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("UC5251"))
    assert warning.id == "/Test/Cluster"


@pytest.mark.parametrize("is_imported", [True, False], ids=["imported", "of the app"])
def test_an_alias_is_no_key(*, is_imported: bool) -> None:
    stack = new_stack()
    key = kms.Key(stack, "Theirs")
    alias = (
        kms.Alias.from_alias_name(stack, "Alias", "alias/theirs")
        if is_imported
        else key.add_alias("alias/theirs")
    )
    with pytest.raises(FindingsError, match="UC1032: Test/Cluster: kms_key: got an alias"):
        ultra_cluster(stack, node_count=1, kms_key=alias)
    ultra_cluster(stack, node_count=1, kms_key=key)


def test_an_imported_topic_grants_no_use_of_the_key() -> None:
    stack = new_stack()
    cluster = ultra_cluster(
        stack, node_count=1, kms_key=uc.ClusterKey(stack, "Key", removal_policy=cdk.RemovalPolicy.DESTROY).key
    )
    theirs = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-east-2:123456789012:theirs")
    uc.ClusterBudget(
        stack,
        "Budget",
        monthly_usd=1,
        tag_value="train",
        topic=theirs,
        queues_to_close=[cluster.queue],
        kms_key=kms.Key.from_key_arn(stack, "Theirs", ARN),
    )
    assert "TellEncrypted" not in str(of_type(stack, "AWS::IAM::Role"))
    (key,) = of_type(stack, "AWS::KMS::Key")
    assert key["DeletionPolicy"] == "Delete"
    assert "KmsKeyId" in only(stack, "AWS::FSx::FileSystem")


def test_replicas_of_a_cache_have_no_customer_managed_key() -> None:
    stack = new_stack()
    there = s3.Bucket.from_bucket_name(stack, "There", "cache-of-another-region")
    key = kms.Key.from_key_arn(stack, "Theirs", ARN)
    with pytest.raises(FindingsError, match="UC5250"):
        uc.CompileCache(stack, "Cache", replicate_to=[there], kms_key=key)
    uc.CompileCache(stack, "Cache", kms_key=key)
