"""Text that is known in part."""

from typing import Any

import pytest

from ultracluster_checks.model.values import Reference, Text, Unknown, joined


@pytest.mark.parametrize(
    ("parts", "text"),
    [([], ""), (["a", "", "b"], "ab"), (["x-", 4, "-", True], "x-4-true"), ([1.5], "1.5")],
)
def test_known_parts_become_plain_text(parts: list[Any], text: str) -> None:
    assert joined(parts) == text


def test_unknown_parts_leave_gaps_between_merged_text() -> None:
    bucket = Reference(0, "Bucket", "Arn")

    assert joined(["a", "b", bucket, "", Unknown("Stage")]) == Text(("ab", bucket, Unknown("Stage")))


def test_text_inside_text_is_flattened() -> None:
    inner = joined(["b", Unknown()])

    assert joined(["a", inner]) == Text(("ab", Unknown()))


@pytest.mark.parametrize("part", [Reference(0, "Bucket"), Unknown("Stage")])
def test_a_single_gap_is_returned_as_it_is(part: Any) -> None:
    assert joined([part]) == part


def test_gaps_are_printed_as_placeholders() -> None:
    gaps = (Reference(0, "Bucket"), Reference(0, "Bucket", "Arn"), Unknown("Stage"), Unknown())

    assert str(Text(("s3://", *gaps))) == "s3://${Bucket}${Bucket.Arn}${Stage}${?}"


@pytest.mark.parametrize("part", [None, ["a"], {"a": 1}])
def test_a_part_other_than_text_is_unknown(part: Any) -> None:
    assert joined([part]) == Unknown()
