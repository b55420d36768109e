"""What `ultracluster status` has read, as a picture."""

from datetime import UTC, datetime
from typing import Any

from tests.golden.synthesis import stacks_of
from tests.unit.cli.pictures.elements import problems_of, texts_of

from ultracluster_cli.pictures.status import draw_status

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def state(**more: Any) -> dict[str, Any]:
    block = {
        "id": "cr-0123456789abcdef0",
        "instances": 4,
        "start": datetime.fromisoformat("2026-11-18T11:30:00+00:00"),
        "drain": datetime.fromisoformat("2026-12-02T10:50:00+00:00"),
        "end": datetime.fromisoformat("2026-12-02T11:30:00+00:00"),
    }
    nodes = [{"type": "trn2.48xlarge"}]
    return {"cluster": "quickstart", "region": "us-east-2", "capacity": [block], "nodes": nodes, **more}


def test_topology_state_and_block_are_drawn_with_the_present_time() -> None:
    lines = [("nodes", "4 x trn2.48xlarge running"), ("cost", "1,234.56 USD so far " * 12)]
    drawn = draw_status([state()], [stacks_of("quickstart.yaml")], [lines], now=NOW).svg()

    assert {
        "quickstart in us-east-2",
        "Queue",
        "BlockLifecycle",
        "nodes",
        "4 x trn2.48xlarge running",
        "now",
        "scheduling",
    } <= set(texts_of(drawn))
    assert "now: training" in texts_of(drawn)
    assert "Paid: 1,344.0 node-hours (" in drawn
    assert problems_of(drawn) == []


def test_what_is_not_deployed_and_what_is_not_a_block_is_drawn() -> None:
    reserved = {
        "id": "cr-1",
        "instances": 1,
        "start": datetime.fromisoformat("2026-11-18T11:30:00+00:00"),
        "drain": None,
        "end": None,
    }
    states = [state(), state(capacity=[reserved], nodes=None)]
    drawn = draw_status(states, [[], []], [[("stacks", "none")], []], now=NOW).svg()

    assert texts_of(drawn).count("quickstart in us-east-2: nothing is deployed") == 2
    assert texts_of(drawn).count("now") == 1
    assert problems_of(drawn) == []
