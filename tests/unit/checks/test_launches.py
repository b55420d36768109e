"""Rules for launch templates: instance types, capacity, images, user data."""

import pytest
from tests.unit.checks.edits import LT, codes_after

from ultracluster_checks import Source


@pytest.mark.parametrize(("size", "broken"), [(15 * 1024, False), (15 * 1024 + 1, True)])
def test_user_data_leaves_1_kib_of_16_to_aws_batch(
    foreign: dict[str, Source], size: int, broken: bool
) -> None:
    data = "MIME-Version: 1.0\n".ljust(size, "#")

    assert ("UC4209" in codes_after(foreign, "batch-efa", {f"{LT}/UserData": {"Fn::Base64": data}})) is broken
