"""Names and tags of AWS Batch resources."""

import pytest
from tests.refusals import said

from ultracluster_local.services.batch.names import check_name, check_tags

pytestmark = pytest.mark.slow  # imports moto


@pytest.mark.parametrize("name", ["a", "_a", "A-1_b", "x" * 128])
def test_names_of_letters_digits_hyphens_and_underscores_are_taken(name: str) -> None:
    assert said(check_name, name, "Job queue name") == ""


@pytest.mark.parametrize("name", ["", "-a", "a.b", "a b", "ä", "x" * 129, "a\n"])
def test_another_name_is_refused_with_what_it_names(name: str) -> None:
    assert "Job queue name should match valid pattern" in said(check_name, name, "Job queue name")


@pytest.mark.parametrize(("count", "refused"), [(0, False), (50, False), (51, True)])
def test_a_resource_has_fifty_tags_and_no_more(count: int, *, refused: bool) -> None:
    tags = {f"k{number}": "v" for number in range(count)}

    assert ("at most 50 tags" in said(check_tags, {"tags": tags})) is refused
