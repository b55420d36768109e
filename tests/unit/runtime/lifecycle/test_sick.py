"""Judging nodes by the events that they publish."""

from datetime import UTC, datetime
from typing import Any
from unittest.mock import Mock

import pytest

from ultracluster_runtime.lifecycle.sick import judge, read_sick_nodes

NODE, OTHER = "i-0123456789abcdef0", "i-0fedcba9876543210"


def event(node: str = NODE, **figures: Any) -> dict[str, Any]:
    return {"InstanceId": node, "NodesReporting": 1, **figures}


@pytest.mark.parametrize(
    ("events", "reason", "in_memory"),
    [
        ([event()] * 5, "", False),
        ([event(NodeFaults=1, Faults=["DMA_ERROR"])], "DMA_ERROR", False),
        ([event(NodeFaults=1, Faults=["HBM_UNCORRECTABLE_ERROR"])], "HBM_UNCORRECTABLE_ERROR", True),
        ([event(NodeFaults=1, Faults=["SRAM_UNCORRECTABLE_ERROR"])], "SRAM_UNCORRECTABLE_ERROR", True),
        ([event(NodeFaults=1, Faults=["mem_ecc_uncorrected"])], "mem_ecc_uncorrected", True),
        ([event(NeuronDevicesMissing=1)] * 2, "", False),
        ([event(NeuronDevicesMissing=1)] * 3, "1 Neuron devices missing", False),
        ([event(EfaDevicesMissing=0)] * 5, "", False),
        ([event(EfaDevicesMissing=2)] * 3, "2 EFA devices missing", False),
        ([event(EfaDevicesMissing=1), event(NeuronDevicesMissing=1), event(OTHER, EfaDevicesMissing=1)], "", False),
        ([event(EfaRetransmits=10**9, EfaDrops=10**6, EfaImpaired=10**4)] * 5, "", False),
        ([event(EccCorrected=10**6)] * 5, "", False),
        ([{"Cluster": "pretrain"}, event(Faults=[])], "", False),
    ],
)  # fmt: skip
def test_one_fault_is_enough_and_devices_are_missing_for_three_minutes(
    events: list[dict[str, Any]], reason: str, in_memory: bool
) -> None:
    found = judge(events)
    assert {node: sick.reason for node, sick in found.items()} == ({NODE: reason} if reason else {})
    assert any(sick.in_memory for sick in found.values()) is in_memory


def test_reads_the_last_five_minutes_of_what_may_be_sick() -> None:
    logs = Mock()
    logs.get_paginator.return_value.paginate.return_value = [
        {"events": []},
        {"events": [{"message": '{"InstanceId": "i-1", "Faults": ["DMA_ERROR"]}'}]},
    ]
    found = read_sick_nodes(logs, "nodes", datetime(2026, 12, 1, 12, 5, tzinfo=UTC))
    assert found["i-1"].reason == "DMA_ERROR"
    logs.get_paginator.return_value.paginate.assert_called_once_with(
        logGroupName="nodes",
        startTime=int(datetime(2026, 12, 1, 12, tzinfo=UTC).timestamp() * 1000),
        filterPattern="{ ($.NodeFaults > 0) || ($.NeuronDevicesMissing > 0) || ($.EfaDevicesMissing > 0) }",
    )
