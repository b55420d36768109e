"""The fixture for users."""

import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]


@pytest.mark.process
def test_importing_the_plugin_loads_neither_moto_nor_boto3() -> None:
    code = (
        "import sys, ultracluster_local, ultracluster_local.pytest_plugin;"
        "print(sorted({'moto', 'boto3', 'botocore', 'cfnlint', 'aws_cdk'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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
