"""The fixture for users."""

import subprocess
import sys

import pytest
from tests.bare_environment import bare_environment
from tests.unit.docs.pages import code_blocks
from tests.unit.local.test_deploy import topic, write

pytest_plugins = ["pytester"]

README = [block for block in code_blocks("python") if block.page == "localaws/README.md"]


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
    write(pytester.path / "cdk.out", {"A": (topic(), [])})
    pytester.makepyfile(
        README[0].text
        + """
        import pytest

        @pytest.mark.parametrize("again", [1, 2])
        def test_one(local_aws, again):
            local_aws.client("s3").create_bucket(Bucket="mine")
            assert len(local_aws.client("s3").list_buckets()["Buckets"]) == 2
        """.replace("\n        ", "\n")
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=4)


@pytest.mark.deploy
@pytest.mark.process
def test_the_example_without_pytest_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", README[1].text],
        capture_output=True,
        text=True,
        check=True,
        env=bare_environment(),
    )
    assert done.stdout.startswith("http://localhost:")
