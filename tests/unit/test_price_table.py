"""`make tables ONLY=prices` keeps the newer price of each item, and writes the same table of the same prices."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import price_table

from ultracluster_catalog.prices.prices import PRICE_TABLE, BillableItem

ENDPOINT = BillableItem(kind="service", name="interface endpoint")
TRN1 = BillableItem(kind="on-demand", name="trn1.32xlarge")


def a_map(dated: str, regions: dict[str, dict[str, str]]) -> dict[str, Any]:
    """What a pricing page loads."""
    entries = {
        name: {key: {"price": price} for key, price in prices.items()} for name, prices in regions.items()
    }
    return {"manifest": {"hawkFilePublicationDate": f"{dated}T01:26:50Z"}, "regions": entries}


def write(tmp_path: Path, document: dict[str, Any]) -> dict[tuple[str, str], dict[str, str]]:
    """The rows that the command writes, by name and source."""
    (tmp_path / "map.json").write_text(json.dumps(document))
    table = tmp_path / "table.json"
    assert price_table.main([str(tmp_path / "map.json"), "--source", "a copy", "--table", str(table)]) == 0
    return {(row["name"], row["source"]): row for row in json.loads(table.read_text())}


def test_prices_of_pages_are_those_of_regions_by_their_codes_and_of_all_regions() -> None:
    hour = "Hourly charge for VPC Endpoints per Hrs"
    found = price_table.prices_of_map(
        a_map(
            "2026-01-02",
            {
                "EU (Ireland)": {hour: "0.0110000000", "unknown product": "1"},
                "US East (Boston)": {hour: "0.5"},
                "Any": {"Dashboard Basic Dashboard": "3.00"},
                "US East (Ohio)": {"OnDemand Linux-instancetype-trn1.32xlarge": "21.5", hour: "0"},
            },
        ),
        "a copy",
    )

    assert str(found[ENDPOINT, "eu-west-1"].amount) == "0.011"
    assert found[TRN1, "us-east-2"].dated.isoformat() == "2026-01-02"
    assert {item.name for item, _ in found} == {"interface endpoint", "dashboard", "trn1.32xlarge"}
    assert {region for item, region in found if item.name == "dashboard"} == set(price_table.REGIONS)
    assert (ENDPOINT, "us-east-2") not in found  # a price of 0 is a free tier


def test_a_newer_price_replaces_an_older_one_only(tmp_path: Path) -> None:
    key = {"US East (Ohio)": {"Hourly charge for VPC Endpoints per Hrs": "0.02"}}

    newer = write(tmp_path, a_map("2026-12-01", key))
    assert newer["interface endpoint", "a copy"]["usd"] == {"0.02": "us-east-2"}
    older = write(tmp_path, a_map("2020-12-01", key))
    assert ("interface endpoint", "a copy") not in older


def test_the_committed_table_is_what_the_command_writes(tmp_path: Path) -> None:
    write(tmp_path, a_map("2020-12-01", {}))

    assert (tmp_path / "table.json").read_text() == price_table.TABLE.read_text("utf-8")
    assert len(PRICE_TABLE) > 600


def test_without_files_the_price_list_is_asked_for_every_item_in_every_region(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def listed(things: Any, *, client: Any) -> Any:
        assert client is None
        asked.extend(things)
        return {}, []

    monkeypatch.setattr(price_table, "listed_prices", listed)
    monkeypatch.setattr(price_table.boto3, "client", lambda *_, **__: None)

    assert price_table.main(["--table", str(tmp_path / "table.json")]) == 0
    assert {(TRN1, "sa-east-1"), (ENDPOINT, "eu-west-1")} < set(asked)
    assert (tmp_path / "table.json").read_text() == price_table.TABLE.read_text("utf-8")
