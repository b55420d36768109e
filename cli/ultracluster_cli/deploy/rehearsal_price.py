"""The price of a rehearsal before it begins."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from ultracluster_cli.cost.estimate import listed_today
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks import cost
from ultracluster_stacks.config.rehearsal import RehearsedCluster

LONGEST_HOURS: Final = 3
"""Hours for which the price is stated. CloudFormation creates and deletes a file system in half an hour."""

# A rehearsal stores and logs almost nothing.
_USAGE: Final = cost.Usage(
    hours=Decimal(LONGEST_HOURS),
    stored_gb=Decimal(0),
    logs_gb=Decimal(0),
    endpoint_gb=Decimal(0),
    nat_gb=Decimal(0),
)


def hourly_price(clusters: Sequence[RehearsedCluster], *, pricing: Any | None) -> cost.Money:
    """Return the list price of an hour of rehearsals, without nodes, which never start; without a client, the catalogue's."""
    prices = cost.catalogue_prices() if pricing is None else _current_prices(clusters, pricing)
    return cost.Money.total(_hour(cluster, prices) for cluster in clusters)


def price_text(hour: cost.Money) -> str:
    """Return the price in one sentence, and what is approximate or not known about it."""
    caveats = [f" Not known: {', '.join(hour.without)}."] if hour.without else []
    if hour.approximate:
        caveats.append(
            " ≈: prices of the nearest Region are in it, as no dated price of the Region is known."
        )
    hour = replace(hour, low=hour.high)
    return (
        f"The rehearsal costs at most {_usd(hour * LONGEST_HOURS)}, for {LONGEST_HOURS} hours; it usually takes less than one. What is not "
        f"removed, such as after kill -9, costs {_usd(hour)} per hour until `deploy --without-capacity --clean`.{''.join(caveats)}"
    )


def _usd(amount: cost.Money) -> str:
    return f"{amount.text()} USD" if amount.is_known else "an unknown amount"


def _hour(cluster: RehearsedCluster, prices: cost.Prices) -> cost.Money:
    footprint = replace(cost.configured_footprint(cluster), supplies=(), custom_metrics=0, compile_type=None)
    lines = cost.estimate_cost(footprint, usage=_USAGE, prices=prices).lines
    return cost.Money.total(line.hour for line in lines if line.quantity)


def _current_prices(clusters: Sequence[RehearsedCluster], pricing: Any) -> cost.Prices:
    try:
        known, _ = listed_today(lambda prices: [_hour(cluster, prices) for cluster in clusters], pricing)
    except FindingsError:  # the credentials may not call this operation
        known = {}
    return cost.catalogue_prices(known=known)
