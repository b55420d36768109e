"""How a file is refused."""

from pathlib import Path

import pytest

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config.reading.yaml_source import read_yaml


def refusal(path: Path) -> str:
    with pytest.raises(FindingsError) as caught:
        read_yaml(path)
    assert len(caught.value.findings) == 1
    return str(caught.value)
