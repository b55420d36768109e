"""Write purchased capacity as YAML for a rollout file and as an SSM parameter."""

import json
from pathlib import Path
from typing import Any

from ultracluster_runtime.purchasing.orders import Record

PARAMETER_PREFIX = "/ultracluster/capacity"


def _facts(record: Record) -> dict[str, Any]:
    return {
        "order": record.order.name,
        "region": record.region,
        "zone_ids": list(record.zone_ids),
        "reservation_ids": list(record.reservation_ids),
        "start": record.start.isoformat() if record.start else None,
        "end": record.end.isoformat() if record.end else None,
    }


def _time(text: str | None) -> str:
    return f'"{text.replace("+00:00", "Z")}"' if text else "null"


def fragment(record: Record) -> str:
    """Return the capacity settings of a cluster as YAML, with one part for each reservation."""
    facts = _facts(record)
    market = "on-demand" if record.order.kind == "on-demand" else "capacity-block"
    parts = [f"# order {record.order.name}: {record.state.value}"]
    parts += [
        "\n".join(
            [
                f"region: {record.region}",
                f"zone_id: {', '.join(record.zone_ids) or 'null'}",
                "capacity:",
                f"  market_type: {market}",
                f"  reservation_id: {reservation_id}",
                f"  start: {_time(facts['start'])}",
                f"  end: {_time(facts['end'])}",
            ]
        )
        for reservation_id in record.reservation_ids
    ]
    if len(record.reservation_ids) > 1:
        parts.insert(1, f"# {len(record.reservation_ids)} reservations: use each for a separate cluster")
    return "\n".join(parts) + "\n"


def write_fragment(record: Record, path: Path) -> None:
    """Write the fragment to a file."""
    path.write_text(fragment(record), encoding="utf-8")


def write_parameter(record: Record, client: Any) -> str:
    """Write the same settings to an SSM parameter as JSON, and return its name."""
    name = f"{PARAMETER_PREFIX}/{record.order.cluster}/{record.order.name}"
    client.put_parameter(Name=name, Value=json.dumps(_facts(record)), Type="String", Overwrite=True)
    return name
