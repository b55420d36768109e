"""Draw the waves of a rollout: the clusters of each, their steps and gates, and the states of those."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ultracluster_cli.pictures.drawing import DARK, MARGIN, SOFT, TINT, WIDTH, Drawing, fit, text_width
from ultracluster_runtime.rollout.decide import Entry, Kind, states_of
from ultracluster_runtime.rollout.plan import ALARMS, JOB, STACKS, PlannedCluster, RolloutPlan

_STATES: Final = {
    Kind.PASSED: ("green", "passed"),
    Kind.FAILED: ("red", "failed"),
    Kind.BEGUN: ("blue", "begun"),
    None: ("grey", "waiting"),
}
_FIRST: Final = 250.0
"""Left end of the steps, beside the names of the clusters."""


def draw_waves(plan: RolloutPlan, entries: Sequence[Entry], *, title: str) -> Drawing:
    """Draw a rollout with the state of each step."""
    drawing = Drawing(title)
    top = drawing.legend(_STATES.values(), drawing.heading(title, MARGIN + 12) - 10) + 8
    states = states_of(entries)
    for number, wave in enumerate(plan.waves):
        if number:
            drawing.arrow(MARGIN + 20, top, MARGIN + 20, top + 26)
            condition = f"when every cluster of {plan.waves[number - 1]} has passed its gates"
            drawing.text(condition, MARGIN + 34, top + 17, colour=SOFT)
            top += 28
        clusters = [cluster for cluster in plan.clusters if cluster.wave == wave]
        chips, bottom = _chips(clusters, states, top + 46)
        drawing.rect(MARGIN, top, WIDTH - 2 * MARGIN, bottom - top, fill=TINT["grey"], stroke=SOFT, rounded=6)
        drawing.text(f"Wave {number + 1}: {wave}", MARGIN + 10, top + 20, bold=True)
        for chip in chips:
            _draw_chip(drawing, chip)
        top = bottom
    return drawing


@dataclass(frozen=True, kw_only=True, slots=True)
class _Chip:
    """A step of a cluster and its place; the first of a cluster bears its name."""

    words: str
    tone: str
    left: float
    base: float
    cluster: str = ""


def _chips(
    clusters: Sequence[PlannedCluster], states: Mapping[tuple[str, str], Kind], base: float
) -> tuple[list[_Chip], float]:
    """Return the steps of the clusters of a wave, in rows, and the lower end of the last row."""
    chips = []
    for cluster in clusters:
        left, name = _FIRST, cluster.name
        for step in cluster.steps:
            tone, state = _STATES[states.get((cluster.name, step))]
            words = fit(f"{_gate(step)}: {state}", WIDTH - MARGIN - 40 - _FIRST)
            if left > _FIRST and left + text_width(words) + 16 > WIDTH - MARGIN - 8:
                left, base = _FIRST, base + 32
            chips.append(_Chip(words=words, tone=tone, left=left, base=base, cluster=name))
            left, name = left + text_width(words) + 34, ""
        base += 36
    return chips, base - 16


def _draw_chip(drawing: Drawing, chip: _Chip) -> None:
    width = text_width(chip.words) + 16
    if chip.cluster:
        drawing.text(chip.cluster, MARGIN + 10, chip.base, room=_FIRST - MARGIN - 30, bold=True)
    if chip.left > _FIRST:
        drawing.arrow(chip.left - 18, chip.base - 4, chip.left - 2, chip.base - 4)
    dark, tint = DARK[chip.tone], TINT[chip.tone]
    drawing.rect(chip.left, chip.base - 17, width, 26, fill=tint, stroke=dark, rounded=5)
    drawing.text(chip.words, chip.left + 8, chip.base, colour=dark)


def _gate(step: str) -> str:
    """Return a step in words."""
    names = {STACKS: "gate: stacks healthy", ALARMS: "gate: no alarm"}
    return f"gate: job {step.removeprefix(JOB)}" if step.startswith(JOB) else names.get(step, step)
