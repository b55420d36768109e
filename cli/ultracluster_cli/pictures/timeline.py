"""Draw what happens in a Capacity Block, what of its paid time can be used, and where it stands now."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple

from ultracluster_cli.pictures.drawing import DARK, GROUND, MARGIN, ROW, SOFT, WIDTH, Align, Drawing
from ultracluster_runtime.functions.window import BlockWindow

_BAR: Final = 26
_WHEN: Final = 200.0
_WHAT: Final = 400.0
_LEGEND: Final = (
    ("grey", "before the block"),
    ("amber", "paid, before training"),
    ("green", "paid and usable"),
    ("red", "paid and lost"),
    ("blue", "extension"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A block of nodes; ``node_hour`` is the price of a node-hour in USD, None if it is not known."""

    name: str
    window: BlockWindow
    nodes: int
    node_hour: Decimal | None = None


def draw_timeline(drawing: Drawing, block: Block, *, top: float, now: datetime | None = None) -> float:
    """Draw a block below ``top`` and return its lower end; the bar is to scale, ``now`` is marked."""
    window = block.window
    days = (window.end - window.start) / timedelta(days=1)
    duration = f"{days:.3g} {'day' if days == 1 else 'days'}"
    top = drawing.heading(f"{block.name}: {block.nodes} nodes for {duration}", top + 14)
    top = _draw_bar(drawing, window, top=top + 12, now=now)
    top = drawing.legend(_LEGEND, top + 8, fills=DARK) + 18
    stages = _stages(window)
    moments = [stage.since or stage.at for stage in stages]
    reached = [place for place, moment in enumerate(moments) if now and moment and moment <= now]
    current = max(reached, default=0) if now else None
    for number, stage in enumerate(stages):
        drawing.rect(MARGIN, top - 10, 12, 12, fill=DARK[stage.tone])
        mark = "now: " if number == current else ""
        drawing.text(mark + stage.name, MARGIN + 18, top, room=175, bold=True, colour=DARK[stage.tone])
        when = f"{stage.at:%Y-%m-%d %H:%M} UTC" if now and stage.at else stage.when
        drawing.text(when, _WHEN, top, room=_WHAT - _WHEN - 10)
        top = drawing.paragraph(stage.what, _WHAT, top, room=WIDTH - _WHAT - MARGIN)
    for sentence in _money(block, now):
        top = drawing.paragraph(sentence, MARGIN, top + 4, room=WIDTH - 2 * MARGIN)
    return top - ROW


def _draw_bar(drawing: Drawing, window: BlockWindow, *, top: float, now: datetime | None) -> float:
    """Draw the block to scale, with the present time, and return the lower end."""
    left, right = float(MARGIN), float(WIDTH - MARGIN)

    def place(moment: datetime) -> float:
        share = (moment - window.start) / (window.end - window.start)
        return left + (right - left) * min(max(share, 0), 1)

    drain = min(place(window.drain_at), right - 3)  # visible in a block of months, too
    drawing.rect(left, top, drain - left, _BAR, fill=DARK["green"])
    drawing.rect(drain, top, right - drain, _BAR, fill=DARK["red"])
    if now is not None:
        x, room = place(now), 90
        drawing.mark((x, top), (x - 6, top - 9), (x + 6, top - 9))
        align: Align = "start" if x < room else "end" if x > right - room else "middle"
        words = "not begun" if now < window.start else "over" if now >= window.end else "now"
        drawing.text(words, x, top - 13, bold=True, align=align)
        drawing.line((x, top), (x, top + _BAR), colour=GROUND, thickness=2)
    days = [window.start + timedelta(days=1) * day for day in range(1, (window.end - window.start).days + 1)]
    for moment in days[:: max(len(days) // 14, 1)]:
        drawing.line((place(moment), top + _BAR), (place(moment), top + _BAR + 5), colour=SOFT, thickness=1)
    drawing.text(f"start {window.start:%Y-%m-%d}" if now else "start", left, top + _BAR + 18, colour=SOFT)
    end = f"end {window.end:%Y-%m-%d}" if now else "end; one mark is a day" if len(days) < 28 else "end"  # noqa: PLR2004 - below, each day has a mark
    drawing.text(end, right, top + _BAR + 18, colour=SOFT, align="end")
    return top + _BAR + 24


class _Stage(NamedTuple):
    """A stage of a block; ``at`` is None where the job decides, ``since`` when it is the present one."""

    name: str
    tone: str
    when: str
    what: str
    at: datetime | None = None
    since: datetime | None = None


def _stages(window: BlockWindow) -> tuple[_Stage, ...]:
    def stage(name: str, tone: str, at: datetime, what: str) -> _Stage:
        before = f"{(window.end - at) / timedelta(minutes=1):.0f} min before the end"
        return _Stage(name, tone, before if at < window.end else "end of the block", what, at)

    closes = (window.end - window.extension_closes_at) // timedelta(minutes=1)
    compiling = "Graphs are read from the compile cache; only those that it lacks are compiled."
    training = "Jobs train, and write checkpoints as often as they are set to."
    extending = (
        "Jobs with resume go on in the next block. An extension moves all of this; it is sold until "
        f"{closes} min before the end."
    )
    return (
        _Stage("waiting", "grey", "before the start", "Jobs wait in the queue."),
        _Stage("start", "amber", "start of the block", "Nodes start and join the queue.", window.start),
        _Stage("compile", "amber", "after the start", compiling),
        _Stage("gates", "amber", "if jobs have them", "Fabric test, then smoke test."),
        _Stage("training", "green", "until the drain", training, since=window.start),
        stage("checkpoint", "green", window.checkpoint_at, "SIGUSR1: jobs save a checkpoint and go on."),
        stage("drain", "red", window.drain_at, "SIGTERM: jobs are ended, and none starts."),
        stage("termination", "red", window.terminates_at, "EC2 terminates the nodes."),
        stage("end or extension", "blue", window.end, extending),
    )


def _money(block: Block, now: datetime | None) -> Iterator[str]:
    """Yield what is paid, what of it is lost at the end, and what has passed."""
    window = block.window

    def amount(time: timedelta) -> str:
        hours = Decimal(time // timedelta(seconds=1)) / 3600 * block.nodes
        money = "" if block.node_hour is None else f" ({hours * block.node_hour:,.0f} USD at list price)"
        return f"{hours:,.1f} node-hours{money}"

    paid, lost = window.end - window.start, window.end - window.drain_at
    yield f"Paid: {amount(paid)}. Lost from the drain to the end: {amount(lost)}, {lost / paid:.1%}."
    if now is not None:
        passed = min(max(now, window.start), window.drain_at) - window.start
        yield f"Usable time so far: {amount(passed)}. Still usable: {amount(window.usable - passed)}."


def draw_block(block: Block) -> Drawing:
    """Draw a block by itself."""
    drawing = Drawing("Timeline of a Capacity Block")
    draw_timeline(drawing, block, top=MARGIN)
    return drawing
