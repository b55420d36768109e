"""Find nodes with hardware faults in the events that they publish each minute."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from ultracluster_catalog.observability.node_faults import MISSING_MINUTES
from ultracluster_runtime.lifecycle.observations import Sickness

LOOK_BACK: Final = timedelta(minutes=5)
"""Age of the events that are read: a node names its faults in each, so that none is missed."""

_MISSING: Final = {"NeuronDevicesMissing": "Neuron devices", "EfaDevicesMissing": "EFA devices"}
_SUSPECT: Final = "{ " + " || ".join(f"($.{name} > 0)" for name in ("NodeFaults", *_MISSING)) + " }"


def read_sick_nodes(logs: Any, log_group: str, now: datetime) -> Mapping[str, Sickness]:
    """Return the sick nodes among those that published to a log group within the last minutes, by instance ID."""
    pages = logs.get_paginator("filter_log_events").paginate(
        logGroupName=log_group,
        startTime=int((now - LOOK_BACK).timestamp() * 1000),
        filterPattern=_SUSPECT,
    )
    return judge(json.loads(event["message"]) for page in pages for event in page["events"])


def judge(events: Iterable[Mapping[str, Any]]) -> Mapping[str, Sickness]:
    """Judge nodes by their events of the last minutes: one fault is enough, devices must be missing in several."""
    by_node: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for event in events:
        if "InstanceId" in event:
            by_node[event["InstanceId"]].append(event)
    found = {}
    for node, own in sorted(by_node.items()):
        faults = sorted({str(fault) for event in own for fault in event.get("Faults", ())})
        missing = [
            f"{max(counts)} {what} missing"
            for name, what in _MISSING.items()
            if len(counts := [event[name] for event in own if event.get(name, 0) > 0]) >= MISSING_MINUTES
        ]
        if faults or missing:
            in_memory = any("HBM" in fault or "SRAM" in fault or "_ecc_" in fault for fault in faults)
            found[node] = Sickness(reason=", ".join([*faults, *missing]), in_memory=in_memory)
    return found
