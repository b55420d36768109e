"""The examples of docs/concepts/storage.md do what the page says."""

import re
from pathlib import Path
from typing import Any

import pytest

from ultracluster_stacks.config import load_rollout

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/concepts/storage.md").read_text()
QUICKSTART = (ROOT / "stacks/rollouts/quickstart.yaml").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", blocks("yaml"))
def test_every_part_of_a_cluster_is_valid(block: str, tmp_path: Path) -> None:
    before = QUICKSTART[: QUICKSTART.index("        file_system:\n")]
    after = QUICKSTART[QUICKSTART.index("        jobs:\n") :]
    path = tmp_path / "rollout.yaml"
    path.write_text(before + "".join(f"        {line}\n" for line in block.splitlines()) + after)
    assert load_rollout(path).warnings == ()


@pytest.mark.synth
def test_the_python_example_joins_three_folders() -> None:
    from tests.unit.ultracluster.builders import network, new_stack, of_type

    (block,) = blocks("python")
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 - the page is ours
    stack = new_stack()
    names["define_storage"](stack, network(stack))
    assert len(of_type(stack, "AWS::FSx::DataRepositoryAssociation")) == 3
