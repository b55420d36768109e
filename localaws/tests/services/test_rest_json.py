"""Calls in REST and JSON."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.services.image_components import component

pytestmark = pytest.mark.slow


def test_tags_are_changed_by_the_arn_with_its_slashes(builder: Any) -> None:
    arn = component(builder)
    builder.tag_resource(resourceArn=arn, tags={"a": "1", "b": "2"})
    builder.untag_resource(resourceArn=arn, tagKeys=["a"])
    assert builder.list_tags_for_resource(resourceArn=arn)["tags"] == {"b": "2"}


def test_a_call_that_is_not_here_is_refused_by_name(builder: Any) -> None:
    with pytest.raises(ClientError, match="The local AWS has no imagebuilder ListWorkflows") as caught:
        builder.list_workflows()
    assert caught.value.response["Error"]["Code"] == "InvalidAction"
