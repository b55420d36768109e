"""Render plans as text, Markdown and JSON (`ultracluster docs command-line`)."""

import dataclasses
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.text import Text

from ultracluster_cli.cost.output import money_json
from ultracluster_cli.output import lines_of
from ultracluster_stacks.cost import CostDifference, Money
from ultracluster_stacks.plan import (
    Action,
    Plan,
    PropertyChange,
    ResourceChange,
    StackChange,
    StackState,
    Stop,
)

_WIDEST_VALUE = 60
_LISTED = 8  # properties and permissions shown per resource; JSON has all
_SIGNS = {
    Action.ADD: "+",
    Action.UPDATE: "~",
    Action.REPLACE: "!",
    Action.MAY_REPLACE: "?",
    Action.RETAIN: "o",
    Action.REMOVE: "-",
}
_STYLES = {
    Action.ADD: "green",
    Action.UPDATE: "yellow",
    Action.REPLACE: "bold red",
    Action.MAY_REPLACE: "red",
    Action.RETAIN: "magenta",
    Action.REMOVE: "red",
}


def plan_json(plan: Plan, *, against: str, allowed: Collection[str]) -> dict[str, Any]:
    """Return a plan as plain values."""
    return {
        "against": against,
        "stopped": plan.stopped(allowed),
        "unanswered": plan.unanswered,
        "allowed": sorted(allowed),
        "stacks": [_json(stack) for stack in plan.stacks],
    }


def _json(stack: StackChange) -> dict[str, Any]:
    document = dataclasses.asdict(stack)
    for change in document["changes"]:
        for property_change in change["properties"]:
            property_change["path"] = ".".join(property_change["path"])
    return document


def print_plan(plan: Plan, *, against: str, allowed: Collection[str]) -> None:
    """Print a plan to stdout as text."""
    console = Console(soft_wrap=True)

    def show(text: str, *, indent: int, style: str = "") -> None:
        for line in lines_of(f"{' ' * indent}{text}", indent=" " * (indent + 2)):
            console.print(Text(line, style=style))

    show(f"Compared with {against}", indent=0)
    for stack in plan.stacks:
        console.print()
        show(_headline(stack), indent=0, style="bold")
        for stop in stack.stops:
            show(_stop_text(stop, allowed), indent=4, style="bold red")
        for change in stack.changes:
            show(f"{_SIGNS[change.action]} {_title(change)}", indent=2, style=_STYLES[change.action])
            for line in _details(change):
                show(line, indent=6)
            for line in change.widened[:_LISTED]:
                show(f"PERMISSION {line}", indent=6, style="yellow")
            for stop in change.stops:
                show(_stop_text(stop, allowed), indent=6, style="bold red")
    console.print()
    show(_verdict(plan, allowed), indent=0, style="bold")


def plan_markdown(plan: Plan, *, against: str, allowed: Collection[str]) -> str:
    """Return a plan as Markdown: the verdict, what stops it, and a collapsible list for each changed stack."""
    lines = [f"### {_verdict(plan, allowed)}", "", f"Compared with {_code(against)}.", ""]
    lines += [_cell(plan.unanswered), ""] if plan.unanswered else []
    stops = [(stack, where, stop) for stack in plan.stacks for where, stop in _stops_of(stack)]
    if stops:
        lines += ["| stack | resource | reason | allow with |", "|---|---|---|---|"]
        for stack, where, stop in stops:
            state = " (allowed)" if stop.allow in allowed else ""
            allow = _code(f"--allow {stop.allow}") + state if stop.allow else "cannot be allowed"
            lines.append(f"| {_code(stack.name)} | {_code(where)} | {_cell(stop.reason)} | {allow} |")
        lines.append("")
    for stack in plan.stacks:
        if not stack.changes:
            lines += [f"- {_headline(stack)}"]
            continue
        lines += ["<details>", f"<summary>{_headline(stack)}</summary>", ""]
        for change in stack.changes:
            lines.append(f"- **{change.action}** {_code(_title(change))}")
            lines += [f"  - {_code(line)}" for line in _details(change)]
            lines += [f"  - permission: {_code(line)}" for line in change.widened[:_LISTED]]
        lines += ["", "</details>", ""]
    return "\n".join(lines)


def _stops_of(stack: StackChange) -> Iterator[tuple[str, Stop]]:
    yield from (("the stack", stop) for stop in stack.stops)
    yield from ((change.logical_id, stop) for change in stack.changes for stop in change.stops)


def _headline(stack: StackChange) -> str:
    summary = {
        StackState.NEW: f"new, with {stack.resources} resources",
        StackState.SAME: "no changes",
        StackState.LEFT: "no longer defined; not touched",
        StackState.CHANGED: _counts(stack.changes) or "outputs change",
    }[stack.state]
    return f"{stack.name} ({stack.region}): {summary}"


def _counts(changes: Collection[ResourceChange]) -> str:
    counted = Counter(change.action for change in changes)
    return ", ".join(f"{counted[action]} to {action}" for action in Action if counted[action])


def _title(change: ResourceChange) -> str:
    where = change.path.removesuffix("/Resource")
    return f"{change.action}: {change.resource_type} {where or change.logical_id}"


def _details(change: ResourceChange) -> Iterator[str]:
    for property_change in change.properties[:_LISTED]:
        yield _property_text(property_change)
    if len(change.properties) > _LISTED:
        yield f"and {len(change.properties) - _LISTED} more properties"
    yield from change.notes


def _property_text(change: PropertyChange) -> str:
    forces = {True: " (forces replacement)", False: "", None: " (may force replacement)"}[change.replaces]
    path = ".".join(change.path)
    if change.cause:
        return f"{path} follows {change.cause}{forces}"
    return f"{path}: {_value(change.before)} -> {_value(change.after)}{forces}"


def _value(value: Any) -> str:
    if value is None:
        return "(none)"
    text = value if isinstance(value, str) else json.dumps(value)
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST_VALUE else f"{line[: _WIDEST_VALUE - 3]}..."


def _stop_text(stop: Stop, allowed: Collection[str]) -> str:
    if stop.allow is None:
        return f"STOP {stop.kind}: {stop.reason}"
    if stop.allow in allowed:
        return f"allowed {stop.kind}: {stop.reason}"
    return f"STOP {stop.kind}: {stop.reason}. To allow it: --allow {stop.allow}"


def _verdict(plan: Plan, allowed: Collection[str]) -> str:
    changes = [change for stack in plan.stacks for change in stack.changes]
    new = sum(stack.state is StackState.NEW for stack in plan.stacks)
    counted = ", ".join(part for part in (f"{new} new stacks" if new else "", _counts(changes)) if part)
    if plan.stopped(allowed):
        stops = sum(stop.allow is None or stop.allow not in allowed for stop in plan.stops())
        return f"Stopped, {stops} {'reason' if stops == 1 else 'reasons'}: {counted or 'no resource changes'}"
    if not counted:
        return "Nothing changes"
    return f"{'Not known to be safe' if plan.unanswered else 'Safe to deploy'}: {counted}"


def _code(text: str) -> str:
    """Return text as Markdown code that cannot break out of its quotes or table cell."""
    return "`" + _cell(text).replace("`", "'") + "`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


Windows = Mapping[str, tuple[datetime | None, datetime | None]]
"""Start and end of the capacity of each cluster, as far as known, by stage name such as ``train-us-east-2``."""


def costs_json(costs: Iterable[CostDifference], windows: Windows) -> list[dict[str, Any]]:
    """Return the cost difference of each cluster of a plan as plain values."""
    rows = []
    for cost in costs:
        start, end = windows.get(cost.cluster, (None, None))
        rows.append(
            {
                "name": cost.cluster,
                "start": start,
                "end": end,
                "node_hour": money_json(cost.node_hour),
                "idle_month": money_json(cost.idle_month),
            }
        )
    return rows


def cost_lines(costs: Iterable[CostDifference], windows: Windows) -> Iterator[str]:
    """Return one line of text for each cluster of a plan."""
    for cost in costs:
        start, end = windows.get(cost.cluster, (None, None))
        window = "unknown" if start is end is None else f"{_time(start)} to {_time(end)}"
        yield (
            f"{cost.cluster}: capacity {window}; list prices: {_signed(cost.node_hour)} USD per hour of all nodes, "
            f"{_signed(cost.idle_month)} USD per month without nodes"
        )


def _time(time: datetime | None) -> str:
    return "unknown" if time is None else f"{time:%Y-%m-%d %H:%M} UTC"


def _signed(amount: Money) -> str:
    if not amount.is_known:
        return f"unknown ({', '.join(amount.without)})"
    without = f" (without {', '.join(amount.without)}: unknown)" if amount.without else ""
    return f"{amount.text(signed=True)}{without}"
