"""Draw what `ultracluster status` has read: each cluster's topology, its state in words, and its blocks with the present time."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ultracluster_catalog.capacity.capacity_blocks import DRAIN_BEFORE_END
from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_cli.pictures.drawing import MARGIN, WIDTH, Drawing
from ultracluster_cli.pictures.timeline import Block, draw_timeline
from ultracluster_cli.pictures.topology import MEANINGS, draw_topology, read_topology
from ultracluster_runtime.functions.window import BlockWindow
from ultracluster_stacks.plan import StackTemplate


def draw_status(
    states: Sequence[dict[str, Any]],
    templates: Sequence[Sequence[StackTemplate]],
    lines: Sequence[Iterable[tuple[str, str]]],
    *,
    now: datetime,
) -> Drawing:
    """Draw clusters from their states, their deployed templates, and the lines that the command prints."""
    drawing = Drawing(f"Status of {', '.join(state['cluster'] for state in states)}")
    top = drawing.legend(MEANINGS, MARGIN) + 8
    for state, stacks, texts in zip(states, templates, lines, strict=True):
        if stacks:
            top = draw_topology(drawing, read_topology(stacks, name=state["cluster"]), top=top)
        else:
            top = drawing.heading(f"{state['cluster']} in {state['region']}: nothing is deployed", top + 14)
        for name, value in texts:
            drawing.text(name, MARGIN, top + 14, bold=True)
            top = drawing.paragraph(value, MARGIN + 100, top + 14, room=WIDTH - 2 * MARGIN - 100) - 14
        for block in state["capacity"]:
            if block["start"] and block["drain"]:
                top = draw_timeline(drawing, _block(block, state), top=top + 8, now=now)
        top += 16
    return drawing


def _block(block: dict[str, Any], state: dict[str, Any]) -> Block:
    types = {node["type"] for node in state["nodes"] or ()}
    price = capacity_block_price(types.pop(), state["region"]) if len(types) == 1 else None
    return Block(
        name=block["id"],
        window=BlockWindow(
            start=block["start"],
            end=block["end"],
            ultraserver=block["end"] - block["drain"] > DRAIN_BEFORE_END,
        ),
        nodes=block["instances"],
        node_hour=price.amount if price else None,
    )
