"""Starting, stopping, emptying; what is unknown is refused at once; the fixture for users."""

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import ACCOUNT, LocalAws
from ultracluster_local.errors import LocalAwsError

pytest_plugins = ["pytester"]


@pytest.mark.process
def test_importing_the_plugin_loads_neither_moto_nor_boto3() -> None:
    code = (
        "import sys, ultracluster_local, ultracluster_local.pytest_plugin;"
        "print(sorted({'moto', 'boto3', 'botocore', 'cfnlint', 'aws_cdk'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_asking_before_the_start_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match=r"call start\(\)"):
        _ = LocalAws().endpoint


@pytest.mark.deploy
def test_listens_on_this_machine_only(local_aws: LocalAws) -> None:
    assert local_aws.endpoint.startswith("http://localhost:")
    port = int(local_aws.endpoint.rsplit(":", 1)[-1])
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no address but the loopback one")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((own, port), timeout=2)


@pytest.mark.deploy
def test_second_one_in_a_process_is_refused(local_aws: LocalAws) -> None:
    assert local_aws.endpoint
    with pytest.raises(LocalAwsError, match="UC8002"):
        LocalAws().start()


@pytest.mark.deploy
@pytest.mark.process
def test_taken_port_is_an_error_and_no_exit(tmp_path: Path) -> None:
    code = """
import socket
from ultracluster_local.errors import LocalAwsError
from ultracluster_local import LocalAws
with socket.create_server(("127.0.0.1", 0)) as taken:
    try:
        LocalAws(port=taken.getsockname()[1]).start()
    except LocalAwsError as error:
        print(error.code)
with LocalAws() as local:
    directory = local._directory
    print(directory.exists())
print(directory.exists())
local.stop()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["UC8003", "True", "False"]


@pytest.mark.deploy
def test_regions_are_bootstrapped_on_first_use(local_aws: LocalAws) -> None:
    assert local_aws.environment("eu-north-1")["AWS_REGION"] == "eu-north-1"
    for region in ("us-east-1", "eu-north-1"):
        value = local_aws.client("ssm", region).get_parameter(Name="/cdk-bootstrap/hnb659fds/version")
        assert value["Parameter"]["Value"] == "30"
        location = local_aws.client("s3", region).get_bucket_location(
            Bucket=f"cdk-hnb659fds-assets-{ACCOUNT}-{region}"
        )["LocationConstraint"]
        assert location in {None, region}


@pytest.mark.deploy
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


@pytest.mark.deploy
@pytest.mark.parametrize(
    ("service", "call", "named"),
    [
        ("ec2", "describe_ipams", "DescribeIpams"),
        ("cloudformation", "list_stack_sets", "ListStackSets"),
        ("cloudwatch", "describe_anomaly_detectors", "DescribeAnomalyDetectors"),
        ("fsx", "describe_volumes", "DescribeVolumes"),
        ("batch", "list_consumable_resources", "listconsumableresources"),
    ],
)
def test_unknown_call_is_refused_at_once_by_its_name(
    local_aws: LocalAws, service: str, call: str, named: str
) -> None:
    client = local_aws.client(service)
    began = time.monotonic()
    with pytest.raises(ClientError, match=named) as caught:
        getattr(client, call)()
    assert time.monotonic() - began < 2
    response: Any = caught.value.response
    assert response["Error"]["Code"] == "InvalidAction"
    assert 400 <= response["ResponseMetadata"]["HTTPStatusCode"] < 500


@pytest.mark.deploy
def test_failure_inside_is_a_400_that_says_where(
    local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moto.sns.models import SNSBackend

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("broken")

    monkeypatch.setattr(SNSBackend, "list_topics", broken)
    with pytest.raises(ClientError, match="KeyError") as caught:
        local_aws.client("sns").list_topics()
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


@pytest.mark.deploy
def test_users_profile_is_set_aside_and_given_back() -> None:
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


@pytest.mark.deploy
@pytest.mark.process
def test_fixture_is_there_for_users_and_empty_for_each_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("again", [1, 2])
        def test_one(local_aws, again):
            local_aws.client("s3").create_bucket(Bucket="mine")
            assert len(local_aws.client("s3").list_buckets()["Buckets"]) == 2
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)
