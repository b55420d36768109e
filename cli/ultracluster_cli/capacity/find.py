"""`ultracluster capacity find`: offerings as a table, as JSON and as a picture."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_runtime.costs.price_comparison import compare_prices
from ultracluster_runtime.purchasing.offerings import Offering

__all__ = ["offering_row", "plot_offerings", "show_offerings"]


_MARKERS = "osD^vPX"


def _rounded(amount: Decimal | None, places: str = "0.0001") -> str | None:
    return None if amount is None else str(amount.quantize(Decimal(places)))


def offering_row(offering: Offering, *, earliest: datetime) -> dict[str, Any]:
    """An offering as a row of the table, and as JSON.

    Args:
        offering: The offering.
        earliest: The earliest start that was asked for; `gap_hours` counts from it.
    """
    return {
        "offering": offering.offering_id,
        "region": offering.region,
        "zone": ", ".join(offering.zone_ids) or offering.zone,
        "instance_type": offering.instance_type or offering.ultraserver_type,
        "instances": offering.instance_count,
        "ultraservers": offering.ultraserver_count or None,
        "segments": len(offering.segments) or None,
        "start": offering.start.isoformat(),
        "end": offering.end.isoformat(),
        "gap_hours": round((offering.start - earliest) / timedelta(hours=1), 1),
        "hours": round(offering.duration / timedelta(hours=1), 2),
        "usable_hours": round(offering.window.usable / timedelta(hours=1), 2),
        "total": str(offering.fee),
        "currency": offering.currency,
        "per_node_hour": _rounded(offering.fee_per_node_hour),
        "per_chip_hour": _rounded(offering.fee_per_chip_hour),
        "per_core_hour": _rounded(offering.fee_per_core_hour),
        "usable_node_hours_per_unit": _rounded(offering.usable_node_hours_per_unit, "0.000001"),
    }


def show_offerings(
    offerings: Sequence[Offering],
    findings: Sequence[Any],
    *,
    earliest: datetime,
    calls: Mapping[str, int],
    as_json: bool,
) -> None:
    """Print offerings in their order, what else the money would buy, which Regions gave no answer, and the calls."""
    rows = [offering_row(offering, earliest=earliest) for offering in offerings]
    kinds = {(offering.catalog_type.name, offering.region) for offering in offerings if offering.catalog_type}
    comparisons = {
        comparison.label: comparison
        for instance_type, region in sorted(kinds)
        for comparison in compare_prices(instance_type, region)
    }
    prices = [
        {
            "price": comparison.label,
            "per_node_hour": _rounded(comparison.per_node_hour),
            "per_chip_hour": _rounded(comparison.per_chip_hour),
            "currency": comparison.currency,
            "dated": comparison.dated.isoformat(),
            "source": comparison.reason or comparison.source,
        }
        for comparison in comparisons.values()
    ]
    if as_json:
        print_json(
            {
                "offerings": rows,
                "prices": prices,
                "findings": [str(finding) for finding in findings],
                "calls": calls,
            }
        )
        return
    if rows:
        hidden = {"usable_node_hours_per_unit", "per_core_hour"}
        empty = {name for name in rows[0] if all(row[name] is None for row in rows)}
        print_table(columns=[name for name in rows[0] if name not in hidden | empty], rows=rows)
        print_table(title="To compare", columns=list(prices[0]) if prices else [], rows=prices)
    else:
        say("No offering was found.")
    print_findings(findings)
    say(f"{sum(calls.values())} calls, all of them reading")


def plot_offerings(offerings: Sequence[Offering], path: Path) -> None:
    """Draw the fee per chip and hour over the start, one mark for each offering, into a file.

    Args:
        offerings: What to draw; an offering whose chips are not known is left out.
        path: Where to; its ending says the format, such as ``.png`` or ``.svg``.
    """
    import matplotlib as mpl  # noqa: PLC0415 - takes a second, and is an extra

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(10, 5), layout="constrained")
    for index, region in enumerate(sorted({offering.region for offering in offerings})):
        marks = [
            (offering.start, float(offering.fee_per_chip_hour))
            for offering in offerings
            if offering.region == region and offering.fee_per_chip_hour is not None
        ]
        if marks:
            axes.plot(
                *zip(*marks, strict=True),
                linestyle="none",
                # Hollow, and each Region larger and of another shape than the last, so that equal prices stay visible.
                marker=_MARKERS[index % len(_MARKERS)],
                markersize=6 + 3 * (index % len(_MARKERS)),
                markerfacecolor="none",
                label=region,
                gid=f"offerings-{region}",
            )
    axes.set_xlabel("start (UTC)")
    axes.set_ylabel(f"{offerings[0].currency if offerings else 'USD'} per chip-hour")
    axes.set_title("Capacity Block offerings")
    if axes.has_data():
        axes.legend(title="Region")
    axes.grid(visible=True, alpha=0.3)
    figure.autofmt_xdate()
    figure.savefig(path)
    plt.close(figure)
