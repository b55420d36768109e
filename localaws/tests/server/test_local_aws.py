"""Starting, stopping, emptying; what is unknown is refused at once; the fixture for users."""

import subprocess
import sys

import pytest

from ultracluster_local import LocalAws
from ultracluster_local.errors import LocalAwsError


def test_a_call_before_the_start_names_the_remedy() -> None:
    with pytest.raises(RuntimeError, match=r"call start\(\)"):
        _ = LocalAws().endpoint


@pytest.mark.slow
def test_second_one_in_a_process_is_refused(local_aws: LocalAws) -> None:
    assert local_aws.endpoint
    with pytest.raises(LocalAwsError, match="UC8002"):
        LocalAws().start()


@pytest.mark.slow
def test_reset_empties_every_service_and_sets_the_clock_right(local_aws: LocalAws) -> None:
    local_aws.client("ec2").create_placement_group(GroupName="mine")
    local_aws.client("s3").create_bucket(Bucket="mine")
    local_aws.client("cloudformation").create_stack(
        StackName="one", TemplateBody='{"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}'
    )
    local_aws.capacity_market().block_quota_vcpus = 0
    local_aws.clock.set(local_aws.clock.now().replace(year=2030))
    local_aws.reset()
    assert local_aws.client("ec2").describe_placement_groups()["PlacementGroups"] == []
    assert len(local_aws.client("s3").list_buckets()["Buckets"]) == 1
    assert local_aws.client("sns").list_topics()["Topics"] == []
    assert local_aws.client("cloudformation").describe_stacks()["Stacks"] == []
    assert local_aws.capacity_market().block_quota_vcpus is None
    assert local_aws.clock.now().year != 2030


@pytest.mark.slow
def test_the_profile_of_the_user_is_removed_and_restored() -> None:
    code = """
import os
os.environ["AWS_PROFILE"] = "does-not-exist"
from ultracluster_local import LocalAws
with LocalAws() as local:
    print(len(local.client("s3").list_buckets()["Buckets"]), "AWS_PROFILE" in os.environ)
print(os.environ["AWS_PROFILE"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False", "does-not-exist"]
