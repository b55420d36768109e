"""The templates as people write them, read once."""

from pathlib import Path

import pytest

from ultracluster_checks import Source
from ultracluster_stacks.check import read_templates

FOREIGN = Path(__file__).parent / "foreign"
REGION = "us-east-2"


@pytest.fixture(scope="session")
def foreign() -> dict[str, Source]:
    """Each template by the name of its file."""
    return {path.stem: read_templates([path], region=REGION)[0] for path in sorted(FOREIGN.glob("*.yaml"))}
