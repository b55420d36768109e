"""The fixture for users."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.test_deploy import topic, write

pytest_plugins = ["pytester"]

README = re.findall(
    r"^```python\n(.*?)^```$",
    Path(__file__).parents[1].joinpath("README.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.slow
def test_importing_the_plugin_loads_neither_moto_nor_boto3() -> None:
    code = (
        "import sys, ultracluster_local, ultracluster_local.pytest_plugin;"
        "print(sorted({'moto', 'boto3', 'botocore', 'cfnlint', 'aws_cdk'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_fixture_is_there_for_users_and_empty_for_each_test(pytester: pytest.Pytester) -> None:
    write(pytester.path / "cdk.out", {"A": (topic(), [])})
    pytester.makepyfile(
        README[0]
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


@pytest.mark.slow
def test_the_example_without_pytest_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", README[1]],
        capture_output=True,
        text=True,
        check=True,
        env={name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ},
    )
    assert done.stdout.startswith("http://localhost:")
