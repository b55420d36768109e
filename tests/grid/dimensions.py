"""The dimensions of the grid: each value of dimensions.yaml is a part of a cluster in the rollout file.

What cannot stand together is in `REFUSED`, each with the code that the rollout file is refused with;
a test shows that it is.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.grid.pairs import Row, rows

from ultracluster_spec.instance_type import get_instance_type

__all__ = ["DIMENSIONS", "REFUSED", "ROWS", "cluster", "name_of"]


DIMENSIONS: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text("utf-8")
)
"""The values of each dimension by their names; words in capitals are filled in for each row."""


# Nitro v4 with EFA, and not Trainium2 (FSx for Lustre guide, EFA-enabled file systems).
_MOUNTS_OVER_EFA = {
    *("trn1.32xlarge", "trn1n.32xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p6-b300.48xlarge"),
    "a type of one's own",
}
_WITHOUT_EFA = {"trn1.2xlarge", "inf2.48xlarge"}
# NeuronCores, and a smaller type with the same chips in the zone.
_PRECOMPILES = {"trn1.32xlarge", "inf2.48xlarge"}


def _options(row: Row) -> set[str]:
    part = DIMENSIONS["machine"][row["machine"]]
    own = part.get("custom_instance_type")
    return set(own["purchase_options"] if own else get_instance_type(part["instance_type"]).purchase_options)


def _market(row: Row) -> str:
    return str(DIMENSIONS["capacity"][row["capacity"]]["capacity"]["market_type"])


def _markets(row: Row) -> set[str]:
    sources = DIMENSIONS["capacity"][row["capacity"]]
    return {each["market_type"] for each in (sources["capacity"], *sources.get("additional_capacity", ()))}


def _all_nodes_talk(row: Row) -> bool:
    return row["nodes"] != "1" and row["jobs"] in {"several", "jax", "of every kind"}


REFUSED: Mapping[tuple[str, ...], tuple[str, Callable[[Row], bool]]] = {
    ("machine", "capacity"): ("UC4104", lambda row: not _markets(row) <= _options(row)),
    ("machine", "capacity", "nodes"): (
        "UC4105",
        lambda row: (
            row["machine"] == "trn2u.48xlarge" and _market(row) == "capacity-block" and row["nodes"] == "64"
        ),
    ),
    ("machine", "nodes", "jobs"): (
        "UC6102",
        lambda row: row["machine"] in _WITHOUT_EFA and _all_nodes_talk(row),
    ),
    ("machine", "scratch"): (
        "UC4026",
        lambda row: row["machine"] == "inf2.48xlarge" and row["scratch"] != "none",
    ),
    ("machine", "file system"): (
        "UC5027",
        lambda row: row["file system"] == "over EFA" and row["machine"] not in _MOUNTS_OVER_EFA,
    ),
    ("machine", "jobs"): (
        "UC6116|UC6011|UC6150",
        lambda row: (
            (row["jobs"] == "of every kind" and row["machine"] not in _PRECOMPILES)
            or (row["jobs"] == "jax" and row["machine"] in _WITHOUT_EFA)
        ),
    ),
    ("capacity", "jobs"): (
        "UC6308",
        lambda row: row["capacity"] == "spot" and row["jobs"] not in {"none", "on one node"},
    ),
    ("capacity", "launched by"): (
        "UC4126",
        lambda row: row["capacity"] == "spot" and row["launched by"] == "auto-scaling",
    ),
    ("capacity", "launched by", "jobs"): (
        "UC6309",
        lambda row: (
            row["capacity"] == "reservation, then on-demand"
            and row["launched by"] == "auto-scaling"
            and row["jobs"] not in {"none", "on one node"}
        ),
    ),
    ("capacity", "placement"): (
        "UC4020",
        lambda row: _market(row) == "capacity-block" and row["placement"] == "existing",
    ),
    ("machine", "nodes", "layout", "network"): (
        "UC3105",
        # 1,024 addresses, of which 142 are for AWS, endpoints and the file system: 16 and a task for each node are 1,088.
        lambda row: (
            row["network"] == "narrow, with a way out"
            and row["layout"] in {"all-efa", "one by one"}
            and row["nodes"] == "64"
            and len(_cards(row["machine"])) >= 16
        ),
    ),
}
"""What cannot stand together: the dimensions that say so, the code that it is refused with, and when."""


def _cards(machine: str) -> list[tuple[int, bool]]:
    """Network cards with EFA and without, in order."""
    part = DIMENSIONS["machine"][machine]
    if "custom_instance_type" in part:
        return [(card, True) for card in range(part["custom_instance_type"]["network_cards"])]
    return [(card.index, card.efa) for card in get_instance_type(part["instance_type"]).network_cards]


def _refuses(row: Row) -> bool:
    return any(set(names) <= row.keys() and refused(row) for names, (_code, refused) in REFUSED.items())


ROWS: list[Row] = rows({name: list(values) for name, values in DIMENSIONS.items()}, _refuses)


def name_of(row: Row) -> str:
    """Name of the cluster of a row."""
    return f"g{ROWS.index(row):03d}"


def cluster(row: Row, **filled: str) -> dict[str, Any]:
    """A row as a cluster of the rollout file.

    Args:
        row: A value for each dimension.
        **filled: What stands for the words in capitals.
    """
    merged: dict[str, Any] = {"name": "grid"}
    for name, value in row.items():
        _merge(merged, DIMENSIONS[name][value])
    if row["queues"] == "two" and merged.get("jobs"):
        merged["jobs"] = [*merged["jobs"][:-1], merged["jobs"][-1] | {"queue": "urgent"}]
    # On each card one interface, in an order that no named layout has.
    interfaces = [
        {"card": card, "interface_type": "efa" if efa else "interface"}
        for card, efa in _cards(row["machine"])
    ]
    return _fill(merged, filled | {"INTERFACES": interfaces[::-1], "ZONE": merged["zone_id"]})  # type: ignore[no-any-return]


def placed(row: Row, *, region: str, **existing: str) -> dict[str, Any]:
    """A row as a cluster of its own name, with ids of its own for what exists in a Region."""
    index = ROWS.index(row)
    return cluster(
        row,
        RESERVATION=f"cr-{index:017x}",
        PLACEMENT="a group that exists",
        RESERVATIONS=f"arn:aws:resource-groups:{region}:123456789012:group/training",
        FILE_SYSTEM=f"fs-{index:017x}",
        IMAGE=f"123456789012.dkr.ecr.{region}.amazonaws.com/training:2026-11-20",
        **existing,
    ) | {"name": name_of(row)}


def _merge(into: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        elif isinstance(value, list) and key in into:
            into[key] = into[key] + value
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def _fill(value: Any, filled: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {key: _fill(each, filled) for key, each in value.items()}
    if isinstance(value, list):
        return [_fill(each, filled) for each in value]
    return filled.get(value, value) if isinstance(value, str) else value
