"""Each point of points.toml names a test that exists; `python -m tests.points.points` shows that it can fail."""

import re

import pytest
from tests.points.points import POINTS, ROOT


def test_every_point_of_the_list_is_held() -> None:
    assert sorted({int(point["id"][1:]) for point in POINTS}) == list(range(1, 25))


@pytest.mark.parametrize("point", POINTS, ids=lambda point: f"{point['id']} {point['what']}")
def test_the_test_of_a_point_exists(point: dict[str, str]) -> None:
    path, _, name = point["test"].partition("::")
    assert re.search(rf"^def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)
