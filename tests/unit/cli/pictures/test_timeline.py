"""The timeline of a block."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from tests.unit.cli.pictures.elements import problems_of, texts_of

from ultracluster_cli.pictures.drawing import MARGIN, Drawing
from ultracluster_cli.pictures.timeline import Block, draw_block, draw_timeline
from ultracluster_runtime.functions.window import BlockWindow

START = datetime(2026, 11, 20, 11, 30, tzinfo=UTC)


def block(days: int = 14, nodes: int = 4, *, name: str = "cr-1", ultraserver: bool = False) -> Block:
    window = BlockWindow(start=START, end=START + timedelta(days=days), ultraserver=ultraserver)
    return Block(name=name, window=window, nodes=nodes, node_hour=Decimal(36))


def drawn_at(hours: float, shown: Block | None = None) -> str:
    drawing = Drawing("Timeline of a Capacity Block")
    draw_timeline(drawing, shown or block(), top=MARGIN, now=START + timedelta(hours=hours))
    return drawing.svg()


def test_paid_and_lost_time_are_counted_with_their_price() -> None:
    texts = " ".join(texts_of(draw_block(block()).svg()))
    assert "Paid: 1,344.0 node-hours (48,384 USD at list price)." in texts  # 14 x 24 x 4
    assert (
        "Lost from the drain to the end: 2.7 node-hours (96 USD at list price), 0.2%." in texts
    )  # 40 minutes of 4


def test_ultraservers_drain_earlier() -> None:
    assert "40 min before the end" in texts_of(draw_block(block()).svg())
    assert "70 min before the end" in texts_of(draw_block(block(ultraserver=True)).svg())


@pytest.mark.parametrize(
    ("hours", "stage"),
    [
        (-1, "waiting"),
        (0, "training"),
        (24, "training"),
        (14 * 24 - 1, "checkpoint"),
        (14 * 24 - 0.6, "drain"),
        (14 * 24 - 0.4, "termination"),
        (15 * 24, "end or extension"),
    ],
)
def test_the_present_stage_is_marked(hours: float, stage: str) -> None:
    assert [text for text in texts_of(drawn_at(hours)) if text.startswith("now: ")] == [f"now: {stage}"]


def test_used_time_is_counted_to_now_and_not_beyond_the_drain() -> None:
    assert "Usable time so far: 96.0 node-hours" in " ".join(texts_of(drawn_at(24)))
    assert "Still usable: 0.0 node-hours" in " ".join(texts_of(drawn_at(15 * 24)))


@pytest.mark.parametrize("days", [1, 14, 27, 28, 182])
@pytest.mark.parametrize("nodes", [1, 64])
@pytest.mark.parametrize("share", [-0.1, 0, 0.001, 0.05, 0.5, 0.95, 1, 2])
def test_every_length_can_be_read_at_every_time(days: int, nodes: int, share: float) -> None:
    assert problems_of(drawn_at(days * 24 * share, block(days, nodes, name="c" * 60))) == []
    assert problems_of(draw_block(block(days, nodes)).svg()) == []
