"""Plans say that the code of functions changes, which templates name by its hash only."""

from typing import Any

import pytest
from tests.unit.stacks.plan.small_stacks import stack

from ultracluster_stacks.plan import compare

OLD, NEW = {"S3Key": f"{'b' * 64}.zip"}, {"S3Key": f"{'c' * 64}.zip"}


@pytest.mark.parametrize(
    ("old", "new", "notes"),
    [
        (OLD, NEW, ("the code changes",)),
        (OLD, OLD | {"S3Bucket": "another"}, ()),
        (OLD, {"ZipFile": "inline"}, ()),
        ({"ZipFile": "inline"}, NEW, ()),
    ],
)
def test_a_change_of_code_is_noted(old: Any, new: Any, notes: tuple[str, ...]) -> None:
    before, after = (
        stack(F={"Type": "AWS::Lambda::Function", "Properties": {"Code": code}}) for code in (old, new)
    )

    assert compare([before], [after]).stacks[0].changes[0].notes == notes
