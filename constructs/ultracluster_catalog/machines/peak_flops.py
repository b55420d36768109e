"""Dense peak of each chip and node. Model FLOPs utilization (MFU) is a share of it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.machines.instance_types import FAMILIES
from ultracluster_catalog.machines.machine import PeakTflops

PEAK_TFLOPS: Final[Mapping[str, PeakTflops]] = MappingProxyType(
    {chip: peak for family in FAMILIES for chip, peak in family.peaks.items()}
)
"""Peaks by the name of the chip. The peaks of other chips are not known."""


def node_peak_tflops(instance_type: InstanceType) -> Mapping[str, float]:
    """Return the peak of all chips of one node in TFLOPS, by precision; empty if it is not known."""
    peak = PEAK_TFLOPS.get(instance_type.accelerator)
    if peak is None:
        return {}
    return {precision: tflops * instance_type.chips for precision, tflops in peak.by_precision.items()}
