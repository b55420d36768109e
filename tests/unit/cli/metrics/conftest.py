"""A recording that is drawn once."""

from pathlib import Path

import pytest
from tests.unit.cli.metrics.drawn_pages import Page
from tests.unit.runtime.metrics.recordings import day

from ultracluster_cli.metrics.metrics_page import draw_page


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    draw_page(day(), path)
    return path


@pytest.fixture(scope="module")
def page(drawn: Path) -> Page:
    return Page(drawn.read_text("utf-8"))
