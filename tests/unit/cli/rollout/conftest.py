"""A project to roll out."""

from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.rollout.rollout_simulation import Project, make_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quickstart: Path, run: Run) -> Project:
    return make_project(tmp_path, monkeypatch, quickstart, run)
