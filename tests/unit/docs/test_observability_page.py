"""docs/reference/observability.md says what is there."""

import re
from pathlib import Path

import pytest

from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_spec.alarms import Alarms

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/reference/observability.md").read_text()
QUICKSTART = (ROOT / "stacks/rollouts/quickstart.yaml").read_text()


def test_the_table_of_metrics_is_that_of_the_catalogue() -> None:
    rows = [f"| `{each.name}` | {each.unit} | {each.source} | {each.meaning} |" for each in METRICS.values()]
    table = PAGE[PAGE.index("| metric |") : PAGE.index("**On each node**")]
    assert [line for line in table.splitlines()[2:] if line] == rows
    assert f"{len(METRICS)} metrics at 0.30 USD are {len(METRICS) * 0.3:.2f} USD" in PAGE


def test_defaults_in_the_table_of_alarms_are_those_of_the_thresholds() -> None:
    stated = re.findall(r"`(\w+)` \((\d+)(?: %)?\)", PAGE)
    assert len(stated) > 5
    assert {name: getattr(Alarms(), name) for name, _ in stated} == {
        name: int(value) for name, value in stated
    }


@pytest.mark.slow
def test_the_table_of_alarms_names_all_of_them() -> None:
    from tests.unit.ultracluster.operations.watched_clusters import IDS

    table = PAGE[PAGE.index("| id |") : PAGE.index("- CloudWatch takes")]
    first = [row.split("|")[1] for row in table.splitlines()[2:] if row]
    assert {name for cell in first for name in re.findall(r"`(\w+)`", cell)} == IDS


def test_the_query_names_metrics_and_what_each_event_has_besides() -> None:
    (query,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names = set(re.findall(r"[A-Z]\w+", query))
    assert names - METRICS.keys() == {"InstanceId"}
    assert '"InstanceId"' in (ROOT / "constructs/ultracluster/scripts/node_metrics.py").read_text()
