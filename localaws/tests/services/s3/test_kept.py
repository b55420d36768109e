"""Configurations of buckets come back as they were put, by ID, and end with their bucket."""

from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

TIERED = {"Id": "cold", "Status": "Enabled", "Tierings": [{"Days": 90, "AccessTier": "ARCHIVE_ACCESS"}]}


@pytest.fixture
def s3(local_aws: LocalAws) -> Any:
    s3 = local_aws.client("s3")
    s3.create_bucket(Bucket="kept")
    return s3


def test_a_configuration_is_read_listed_and_deleted_by_its_id(s3: Any) -> None:
    one = {"Bucket": "kept", "Id": "cold"}
    s3.put_bucket_intelligent_tiering_configuration(**one, IntelligentTieringConfiguration=TIERED)

    shown = s3.get_bucket_intelligent_tiering_configuration(**one)
    assert shown["IntelligentTieringConfiguration"] == TIERED
    listed = s3.list_bucket_intelligent_tiering_configurations(Bucket="kept")
    assert listed["IntelligentTieringConfigurationList"] == [TIERED]
    assert "AnalyticsConfigurationList" not in s3.list_bucket_analytics_configurations(Bucket="kept")

    s3.delete_bucket_intelligent_tiering_configuration(**one)
    assert refusal(s3.get_bucket_intelligent_tiering_configuration, **one) == (
        "NoSuchConfiguration",
        "The specified configuration does not exist.",
    )
    assert refusal(s3.get_bucket_inventory_configuration, Bucket="none", Id="a")[0] == "NoSuchBucket"


def test_a_bucket_of_the_same_name_has_none_of_an_earlier_one(s3: Any) -> None:
    one = {"Bucket": "kept", "Id": "cold"}
    s3.put_bucket_intelligent_tiering_configuration(**one, IntelligentTieringConfiguration=TIERED)
    s3.delete_bucket(Bucket="kept")
    s3.create_bucket(Bucket="kept")

    listed = s3.list_bucket_intelligent_tiering_configurations(Bucket="kept")
    assert "IntelligentTieringConfigurationList" not in listed
