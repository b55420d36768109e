"""What a Region has from the beginning, and what tests put into it."""

import pytest

from ultracluster_local import ACCOUNT, LocalAws

pytestmark = pytest.mark.slow


@pytest.mark.slow
def test_regions_are_bootstrapped_on_first_use(local_aws: LocalAws) -> None:
    assert local_aws.environment("eu-north-1")["AWS_REGION"] == "eu-north-1"
    for region in ("us-east-1", "eu-north-1"):
        value = local_aws.client("ssm", region).get_parameter(Name="/cdk-bootstrap/hnb659fds/version")
        assert value["Parameter"]["Value"] == "30"
        location = local_aws.client("s3", region).get_bucket_location(
            Bucket=f"cdk-hnb659fds-assets-{ACCOUNT}-{region}"
        )["LocationConstraint"]
        assert location in {None, region}
