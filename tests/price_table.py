"""Write the dated table of list prices that the catalogue carries: `make tables ONLY=prices`.

Without files it asks the AWS Price List API, which needs credentials, for every item in every Region. With files it reads what
AWS's pricing pages load ("metered unit maps", ``pricing/2.0/meteredUnitMaps/SERVICE/USD/current/SERVICE.json``), or public
copies of them; their manifest has the date. A newer price replaces an older one, and one without a date goes first.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import boto3
import botocore.session

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_catalog.prices import prices
from ultracluster_catalog.prices.prices import PAID_SERVICES, BillableItem, Price, PriceUnit, price_of
from ultracluster_runtime.costs.price_list import PRICE_LIST_REGION, listed_prices

Table = dict[tuple[BillableItem, str], Price]

TABLE: Final = Path(prices.__file__).with_name("price_table.json")
LUSTRE_TIERS: Final = (
    ("SCRATCH_2", None),
    *(("PERSISTENT_1", tier) for tier in (50, 100, 200)),
    *(("PERSISTENT_2", tier) for tier in (125, 250, 500, 1000)),
)


def _lustre(deployment_type: str, tier: int | None) -> BillableItem:
    return BillableItem(kind="lustre", name=deployment_type, tier=tier)


def _service(name: str) -> BillableItem:
    return BillableItem(kind="service", name=name)


def _instance(key: str) -> BillableItem | None:
    _, found, name = key.partition("OnDemand Linux-instancetype-")
    return BillableItem(kind="on-demand", name=name) if found and name in INSTANCE_TYPES else None


# Keys of the maps. Those of FSx are hashes of the product: the same in all Regions, told apart by the prices of us-east-1 that
# other sources state.
ITEMS: Final[Mapping[str, BillableItem]] = {
    "6F5Y8-LREA3C7XZ-HkJAJTOW7_qP9HXyM8_u0Lub4W4": _lustre("SCRATCH_2", None),
    "xsOx6wDnGW5nuMTknw12rrHuFN6HEak26it34WIfSIw": _lustre("PERSISTENT_1", 50),
    "xCIN2wziEu7lzO5aqPEEXBmoLO9xvLz29dpzjUvZSPo": _lustre("PERSISTENT_1", 100),
    "tRaJtnmZyjmqgVlKNpbW3sqyU5Dj9aaDrx8Xua1dg7U": _lustre("PERSISTENT_1", 200),
    "zgFPJ0cUYXdd2jLTiOuDcSYRtdFhYRqCjCbYd49h1Y8": _lustre("PERSISTENT_2", 125),
    "yMXUnsAV3uitn3E4G7Z25YOoTEwD6fTeQCq0JdEjw-0": _lustre("PERSISTENT_2", 250),
    "JCLdXKhp6UDel_cRam0smdbULMkLKcxzWLKN2kvL6Rs": _lustre("PERSISTENT_2", 500),
    "SJkcZfTtuEZ8xiIULvUsQp_CzFRvoWE-3TKzTnlPRVo": _lustre("PERSISTENT_2", 1000),
    "9sbTjDzjP93JvLdEUjKYr_QBO2qKGv3wuK3tctkNa3I": _service("FSx metadata IOPS"),
    "Hourly charge for VPC Endpoints per Hrs": _service("interface endpoint"),
    "Charge for per GB data processed by VPC Endpoints per GB from 0 to 1048576": _service(
        "interface endpoint data"
    ),
    "Hourly charge for In use Public IPv4 Addresses per Hrs": _service("public IPv4 address"),
    "Hourly charge for NAT Gateways": _service("NAT gateway"),
    "Charge for per GB data processed by NatGateways": _service("NAT gateway data"),
    "Alarm Standard": _service("alarm"),
    "Alarm Composite": _service("composite alarm"),
    "Metric for the first 10000": _service("custom metric"),
    "Logs Collected Data Ingestion": _service("logs ingested"),
    "Stored Data": _service("logs stored"),
    "Dashboard Basic Dashboard": _service("dashboard"),
    "Standard Storage First 50 TB per GB Mo": _service("S3 Standard storage"),
    "Storage General Purpose gp3 GB Mo": _service("volume gp3"),
}


def region_names() -> dict[str, str]:
    """Regions of the catalogue by their names on the pricing pages; prices of ``Any`` hold in each."""
    names: dict[str, str] = {}
    for partition in botocore.session.Session().get_data("endpoints")["partitions"]:
        for region, described in partition["regions"].items():
            names[described["description"].replace("Europe (", "EU (")] = region
    return names


def prices_of_map(document: Mapping[str, Any], source: str) -> Table:
    """Prices of a metered unit map, for the Regions of the catalogue."""
    dated = date.fromisoformat(document["manifest"]["hawkFilePublicationDate"][:10])
    names = region_names()
    found: Table = {}
    for name, entries in document["regions"].items():
        regions = REGIONS if name == "Any" else [names[name]] if names.get(name) in REGIONS else []
        for key, entry in entries.items():
            item = ITEMS.get(key) or _instance(key)
            amount = Decimal(entry["price"]).normalize()
            if item is None or amount <= 0:
                continue
            price = Price(amount=amount, unit=unit_of(item), source=source, dated=dated)
            found |= {(item, region): price for region in regions}
    return found


def prices_of_api() -> Table:
    """Current prices of everything that the Price List API identifies, in every Region of the catalogue."""
    items = [_service(name) for name in PAID_SERVICES]
    items += [_lustre(name, tier) for name, tier in LUSTRE_TIERS]
    items += [BillableItem(kind="on-demand", name=name) for name in INSTANCE_TYPES]
    client = boto3.client("pricing", region_name=PRICE_LIST_REGION)
    found, findings = listed_prices(((item, region) for item in items for region in REGIONS), client=client)
    sys.stderr.write(f"{len(findings)} prices are not in the Price List, or ambiguous\n")
    return found


def unit_of(item: BillableItem) -> PriceUnit:
    """Unit that an item is billed by."""
    return price_of(item, "us-east-1").unit


def merged(old: Table, new: Table) -> Table:
    """Both tables, with the newer price of each item."""

    def age(price: Price) -> tuple[bool, date]:
        return ("undated" not in price.source, price.dated)

    return old | {key: price for key, price in new.items() if key not in old or age(price) >= age(old[key])}


def rows(table: Table) -> Iterator[dict[str, Any]]:
    """Rows of the table: Regions by price, for each item and source."""
    grouped: dict[tuple[Any, ...], dict[str, list[str]]] = {}
    order = {name: position for position, name in enumerate(PAID_SERVICES)}

    def place(key: tuple[BillableItem, str]) -> tuple[Any, ...]:
        item, region = key
        return (item.kind, order.get(item.name, 0), item.name, item.tier or 0, region)

    for item, region in sorted(table, key=place):
        price = table[item, region]
        bounds = price.bounds
        assert bounds is not None
        amount = " ".join(dict.fromkeys(f"{bound:f}" for bound in bounds))
        group = (item.kind, item.name, item.tier, price.unit, price.source, price.dated, price.reason)
        grouped.setdefault(group, {}).setdefault(amount, []).append(region)
    for (kind, name, tier, unit, source, dated, reason), amounts in grouped.items():
        row = {"kind": kind, "name": name, "tier": tier, "unit": unit, "source": source, "dated": f"{dated}"}
        row = {field: value for field, value in (row | {"reason": reason}).items() if value}
        yield row | {"usd": {amount: " ".join(regions) for amount, regions in sorted(amounts.items())}}


def written(table: Table) -> str:
    """Text of the table: a line for each row."""
    return "[\n" + ",\n".join(json.dumps(row) for row in rows(table)) + "\n]\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the table, and say what changed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="metered unit maps; default: the Price List API")
    parser.add_argument("--source", default="AWS pricing pages", help="where the files come from")
    parser.add_argument("--table", type=Path, default=TABLE)
    given = parser.parse_args(arguments)
    old: Table = dict(prices.PRICE_TABLE)
    new: Table = {}
    for file in given.files:
        new |= prices_of_map(json.loads(file.read_text("utf-8")), given.source)
    if not given.files:
        new = prices_of_api()
    table = merged(old, new)
    given.table.write_text(written(table), "utf-8")
    changed = [key for key in table if key in old and table[key].bounds != old[key].bounds]
    sys.stdout.write(
        f"{len(table)} prices: {len(table.keys() - old.keys())} new, {len(changed)} of another amount\n"
    )
    for item, region in changed:
        before, after = (each[item, region].bounds for each in (old, table))
        sys.stdout.write(f"  {item.name} {item.tier or ''} in {region}: {before} -> {after}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
