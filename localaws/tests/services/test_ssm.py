"""Parameters that Systems Manager refuses."""

from typing import Any

import pytest
from tests.refusals import refusal

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture
def ssm(local_aws: LocalAws) -> Any:
    return local_aws.client("ssm")


@pytest.mark.parametrize("name", ["aws", "/aws/mine", "AWS-mine", "/Aws"])
def test_names_of_aws_are_reserved(ssm: Any, name: str) -> None:
    assert refusal(ssm.put_parameter, Name=name, Value="x", Type="String") == (
        "AccessDeniedException",
        f"No access to reserved parameter name: {name}.",
    )


@pytest.mark.parametrize(
    ("tier", "size", "words"),
    [
        ("Standard", 4096, ""),
        ("Standard", 4097, "Standard tier parameters support a maximum parameter value of 4096 characters."),
        ("Advanced", 8192, ""),
        ("Advanced", 8193, "Advanced tier parameters support a maximum parameter value of 8192 characters."),
    ],
)
def test_a_value_is_as_long_as_its_tier_allows(ssm: Any, tier: str, size: int, words: str) -> None:
    parameter = {"Name": "/cluster/value", "Value": "x" * size, "Type": "String", "Tier": tier}

    if words:
        assert words in refusal(ssm.put_parameter, **parameter)[1]
    else:
        ssm.put_parameter(**parameter)
