"""Nothing of a real account gets into a child process, and nothing leaves this machine."""

import pytest

from ultracluster_local.errors import LocalAwsError
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.environment import child_environment, local_variables, require_loopback

ENDPOINT = "http://localhost:4566"
VARIABLES = {
    "AWS_ACCESS_KEY_ID": "LOCAL1",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_DEFAULT_REGION": "us-east-2",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_ENDPOINT_URL": ENDPOINT,
    "AWS_REGION": "us-east-2",
    "AWS_SECRET_ACCESS_KEY": "local-aws-secret-key",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "CDK_DEFAULT_ACCOUNT": "123456789012",
    "CDK_DEFAULT_REGION": "us-east-2",
    "CDK_DISABLE_CLI_TELEMETRY": "true",
}


@pytest.mark.parametrize(
    "endpoint", [ENDPOINT, "http://127.0.0.1:1", "http://127.3.2.1", "http://[::1]:80", "https://localhost"]
)
def test_loopback_addresses_are_taken(endpoint: str) -> None:
    assert require_loopback(endpoint) == endpoint


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://ec2.us-east-1.amazonaws.com",
        "http://10.0.0.1:4566",
        "http://localhost.evil.example:4566",
        "http://127.0.0.1.evil.example",
        "http://localhost@evil.example",
        "http://0.0.0.0:4566",
        "localhost:4566",
        "",
    ],
)
def test_any_other_address_is_refused(endpoint: str) -> None:
    with pytest.raises(LocalAwsError, match="UC8001"):
        require_loopback(endpoint)
    with pytest.raises(LocalAwsError, match="UC8001"):
        Clients(endpoint=endpoint, key="LOCAL1")
    with pytest.raises(LocalAwsError, match="UC8001"):
        child_environment(endpoint=endpoint, key="LOCAL1", region="us-east-1")


def test_everything_that_could_name_a_real_account_is_dropped() -> None:
    base = {
        "AWS_PROFILE": "production",
        "AWS_SESSION_TOKEN": "real",
        "AWS_ENDPOINT_URL_S3": "https://s3.amazonaws.com",
        "AWS_WEB_IDENTITY_TOKEN_FILE": "/token",
        "aws_ca_bundle": "/ca",
        "CDK_DEFAULT_ACCOUNT": "111111111111",
        "CDK_NEW_BOOTSTRAP": "1",
        "HTTPS_PROXY": "http://proxy:3128",
        "http_proxy": "http://proxy:3128",
        "PATH": "/bin",
    }
    found = child_environment(endpoint=ENDPOINT, key="LOCAL1", region="us-east-2", base=base)
    assert found == {"PATH": "/bin"} | VARIABLES


def test_whether_the_cdk_checks_templates_is_still_decided_by_the_user() -> None:
    base = {"CDK_VALIDATION": "false", "CDK_CLI_VALIDATION": "false", "cdk_validation": "false"}
    found = child_environment(endpoint=ENDPOINT, key="LOCAL1", region="us-east-2", base=base)
    assert found == {"CDK_VALIDATION": "false"} | VARIABLES


def test_no_configuration_file_of_the_user_is_read() -> None:
    found = local_variables(endpoint=ENDPOINT, key="LOCAL1", region="us-east-1")
    assert found["AWS_CONFIG_FILE"] == found["AWS_SHARED_CREDENTIALS_FILE"] == "/dev/null"
    assert found["AWS_EC2_METADATA_DISABLED"] == "true"
