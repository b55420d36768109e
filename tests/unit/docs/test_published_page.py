"""The clusters of the page about published configurations have what its tables say; test_code_blocks.py validates them."""

import re
from typing import Any

import pytest
import yaml
from tests.unit.docs.pages import ROOT

SECTIONS = re.split(r"^## ", (ROOT / "docs/evidence/published.md").read_text("utf-8"), flags=re.MULTILINE)[1:]


def found(cluster: Any, path: str) -> Any:
    for part in re.findall(r"[^.\[\]]+", path):
        cluster = cluster[int(part) if isinstance(cluster, list) else part]
    return cluster


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.partition("\n")[0])
def test_each_published_setting_is_a_setting_of_ours_or_has_a_reason(section: str) -> None:
    ((block,), rows) = (
        re.findall(r"```yaml\n(.*?)```", section, re.DOTALL),
        re.findall(r"^\| (.+?) \| (.+?) \| (?:`(.+?): (.+?)` )?\| ?(.*?) ?\|$", section, re.MULTILINE),
    )
    cluster = yaml.safe_load(block)["waves"][0]["clusters"][0]

    without_heading = len(re.findall(r"^\|", section, re.MULTILINE)) - 2
    assert len(rows) == without_heading
    for _, _, path, value, reason in rows:
        assert reason or path
        if path:
            assert found(cluster, path) == yaml.safe_load(value), path


def test_six_configurations_are_compared() -> None:
    assert len(SECTIONS) == 6
