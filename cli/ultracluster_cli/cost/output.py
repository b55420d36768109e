"""Render estimates as tables and as JSON (`ultracluster docs command-line`)."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from ultracluster_catalog.prices.prices import Price
from ultracluster_cli.output import print_note, print_table
from ultracluster_stacks.cost import APPROXIMATELY, NOT_COUNTED, Alternative, Estimate, Line, Money

_BY_USE: Final = "by use"  # what an option says, such as --logs-gb, and no rollout
_EXACT: Final = Decimal("0.000001")


def cost_json(estimate: Estimate, hours_from: str, alternative: Alternative | None) -> dict[str, Any]:
    """Return an estimate as plain values; amounts are strings to keep all digits."""
    tokens = estimate.million_tokens
    return {
        "cluster": estimate.footprint.cluster,
        "region": estimate.footprint.region,
        "currency": "USD",
        "hours": f"{estimate.usage.hours:f}",
        "hours_from": hours_from,
        "runs_per_month": estimate.usage.runs_per_month,
        "lines": [_line_json(line, estimate) for line in estimate.lines],
        "if_used": [_line_json(line, estimate) for line in estimate.if_used],
        "hour": money_json(estimate.hour),
        "idle_hour": money_json(estimate.idle_hour),
        "run": money_json(estimate.run),
        "month": money_json(estimate.month),
        "million_tokens": None if tokens is None else money_json(tokens),
        "not_counted": NOT_COUNTED,
        "alternative": None if alternative is None else _alternative_json(alternative),
    }


def money_json(amount: Money) -> dict[str, Any]:
    """Return an amount as plain values; null where it is unknown."""
    ends = {"low": amount.low, "high": amount.high}
    known = amount.is_known
    values = {name: str(end.quantize(_EXACT)) if known else None for name, end in ends.items()}
    return {**values, "without": list(amount.without), "approximate": amount.approximate}


def _line_json(line: Line, estimate: Estimate) -> dict[str, Any]:
    return {
        "name": line.name,
        "what": line.what,
        "quantity": None if line.quantity is None else str(line.quantity),
        "unit": line.price.unit,
        "price": None if line.price.bounds is None else [str(end) for end in line.price.bounds],
        "source": line.price.source,
        "dated": line.price.dated,
        "borrowed_from": line.price.borrowed_from or None,
        "reason": line.price.reason,
        "charged": line.charged,
        "hour": money_json(line.hour),
        "run": money_json(line.run(estimate.usage)),
        "month": money_json(line.month(estimate.usage)),
    }


def _alternative_json(alternative: Alternative) -> dict[str, Any]:
    estimate = alternative.estimate
    tokens = estimate.million_tokens if estimate else None
    return {
        "instance_type": alternative.instance_type,
        "chips_per_node": alternative.chips_per_node,
        "price": None if alternative.price.bounds is None else [str(end) for end in alternative.price.bounds],
        "source": alternative.price.source,
        "dated": alternative.price.dated,
        "hours": f"{round(estimate.usage.hours, 6):f}" if estimate else None,
        "run": money_json(estimate.run) if estimate else None,
        "million_tokens": money_json(tokens) if tokens else None,
    }


def print_cost(estimate: Estimate, hours_from: str, alternative: Alternative | None) -> None:
    """Print an estimate to stdout as tables."""
    usage, footprint = estimate.usage, estimate.footprint
    runs = f"{usage.runs_per_month} runs" if usage.runs_per_month > 1 else "one run"
    title = (
        f"{footprint.cluster} in {footprint.region}, USD: a run of {usage.hours:,} hours ({hours_from}), "
        f"{runs} per month"
    )
    numbers: dict[str, int] = {}
    rows = [_row(line, estimate, numbers) for line in estimate.lines]
    rows.append({"line": "total"} | _amounts([estimate]))
    rows += [{**_row(line, estimate, numbers), "line": f"if used: {line.name}"} for line in estimate.if_used]
    print_table(rows, title=title, details=("what", "quantity", "price"))
    for source, number in numbers.items():
        print_note(f"[{number}] {source}")
    for name, value in _sums(estimate):
        print_note(f"{name}: {value}")
    if alternative is not None:
        title = f"The same run on {alternative.instance_type}, USD"
        print_table(_alternative_rows(estimate, alternative), title=title)
        if alternative.estimate is None:
            print_note("specify a measured --throughput-ratio to compare runs")


def total_json(estimates: Sequence[Estimate]) -> dict[str, Any]:
    """Return the totals of all clusters as plain values."""
    return {name: money_json(amount) for name, amount in _totals(estimates).items()}


def print_total(estimates: Sequence[Estimate]) -> None:
    """Print a line for each cluster, and the total of all."""
    rows = [
        {
            "cluster": f"{estimate.footprint.cluster} in {estimate.footprint.region}",
            "hours": f"{estimate.usage.hours:,}",
            **_amounts([estimate]),
        }
        for estimate in estimates
    ]
    rows.append({"cluster": "total"} | _amounts(estimates))
    print_table(rows, title="All clusters, USD")


def _totals(estimates: Sequence[Estimate]) -> dict[str, Money]:
    return {
        "hour": Money.total(estimate.hour for estimate in estimates),
        "run": Money.total(estimate.run for estimate in estimates),
        "month": Money.total(estimate.month for estimate in estimates),
    }


def _amounts(estimates: Sequence[Estimate]) -> dict[str, str]:
    return {f"per {name}": amount.text() for name, amount in _totals(estimates).items()}


def _sums(estimate: Estimate) -> list[tuple[str, str]]:
    sums = [("per hour without a run", estimate.idle_hour.text())]
    if estimate.million_tokens is not None:
        tokens = estimate.million_tokens
        exact = [f"{end.quantize(Decimal('0.0001')):,}" for end in (tokens.low, tokens.high)]
        text = " to ".join(dict.fromkeys(exact)) if tokens.is_known else "unknown"
        sums.append(("per million tokens", text))
    by_use = [line.name for line in estimate.lines if line.quantity is None]
    if by_use:
        sums.append((f"not included, {_BY_USE}: see --help", ", ".join(by_use)))
    if unpriced := [name for name in estimate.run.without if name not in by_use]:
        sums.append(("not included, price not known", ", ".join(unpriced)))
    sums.append(("never included", NOT_COUNTED))
    return sums


def _row(line: Line, estimate: Estimate, numbers: dict[str, int]) -> dict[str, Any]:
    source = f"{line.price.source}, {line.price.dated}" if line.price.bounds else line.price.reason
    if line.price.borrowed_from:
        borrowed, region = line.price.borrowed_from, estimate.footprint.region
        unknown = "no price of the type" if " in " in borrowed else f"that of {region}"
        known = "is known" if " in " in borrowed else "is not known"
        source = f"{APPROXIMATELY}{source}: price of {borrowed}, as {unknown} {known}"
    amounts = {"hour": line.hour, "run": line.run(estimate.usage), "month": line.month(estimate.usage)}
    return {
        "line": line.name,
        "what": line.what,
        "quantity": _BY_USE if line.quantity is None else f"{line.quantity:,}",
        "price": f"{_price(line.price)} per {line.price.unit}" if line.price.bounds else "unknown",
        **{
            f"per {name}": _BY_USE if line.quantity is None else amount.text()
            for name, amount in amounts.items()
        },
        "source": f"[{numbers.setdefault(source, len(numbers) + 1)}]",
    }


def _price(price: Price) -> str:
    if price.bounds is None:
        return "unknown"
    mark = APPROXIMATELY if price.borrowed_from else ""
    return mark + " to ".join(dict.fromkeys(str(end) for end in price.bounds))


def _alternative_rows(estimate: Estimate, alternative: Alternative) -> list[dict[str, Any]]:
    own_line = next(line for line in estimate.lines if line.charged != "once")
    sides = [
        (
            estimate.footprint.supplies[0].instance_type,
            alternative.own_chips_per_node,
            own_line.price,
            estimate,
        ),
        (alternative.instance_type, alternative.chips_per_node, alternative.price, alternative.estimate),
    ]
    return [
        {
            "type": name,
            "chips": chips,
            "node-hour": _price(price),
            "chip-hour": _chip_hour(price, chips),
            "hours": f"{side.usage.hours:,.6g}" if side else "unknown",
            "per run": side.run.text() if side else "unknown",
            "per million tokens": side.million_tokens.text() if side and side.million_tokens else "unknown",
        }
        for name, chips, price, side in sides
    ]


def _chip_hour(price: Price, chips: int) -> str:
    if price.bounds is None or not chips:
        return "unknown"
    ends = (f"{end / chips:.4f}" for end in price.bounds)
    return " to ".join(dict.fromkeys(ends))
