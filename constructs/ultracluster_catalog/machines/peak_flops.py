"""The peak of each chip: what it could compute, dense, if nothing ever held it up. Model FLOPs utilisation is a share of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.machines.instance_type import InstanceType

__all__ = ["PEAK_TFLOPS", "PRECISIONS", "PeakTflops", "node_peak_tflops"]

PRECISIONS: Final = ("fp8", "bf16", "fp16", "tf32", "fp32")
"""Precisions that peaks are kept for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PeakTflops:
    """The peak of one chip.

    Attributes:
        by_precision: Dense TFLOPS (10^12 operations a second) by precision. What no source says is left out.
        source: Where the figures come from.
        dated: The day on which the source was read.
    """

    by_precision: Mapping[str, float]
    source: str
    dated: date


_READ: Final = date(2026, 11, 21)


def _peak(fp8: float, half: float, fp32: float, *, tf32: float, source: str) -> PeakTflops:
    figures = {"fp8": fp8, "bf16": half, "fp16": half, "tf32": tf32, "fp32": fp32}
    return PeakTflops(by_precision=MappingProxyType(figures), source=source, dated=_READ)


PEAK_TFLOPS: Final[Mapping[str, PeakTflops]] = MappingProxyType(
    {
        "Trainium": _peak(190, 190, 47.5, tf32=190, source="Neuron documentation, Trainium architecture"),
        "Trainium2": _peak(
            1299,
            667,
            181,
            tf32=667,
            source="Neuron documentation 2.29, Trainium2 architecture; sparse figures left out",
        ),
        "Inferentia2": _peak(
            190, 190, 47.5, tf32=190, source="Neuron documentation, Inferentia2 architecture"
        ),
        **{
            name: _peak(
                1978.9,
                989.4,
                66.9,
                tf32=494.7,
                source="glennklockwood.com/garden/processors/h100, after NVIDIA; sparse figures left out",
            )
            for name in ("H100", "H200")
        },
    }
)
"""By name of the chip. Other chips are not known."""


def node_peak_tflops(instance_type: InstanceType) -> Mapping[str, float]:
    """Give the peak of all chips of one node in TFLOPS, by precision; empty when it is not known.

    Args:
        instance_type: Type of the node.
    """
    peak = PEAK_TFLOPS.get(instance_type.accelerator)
    if peak is None:
        return {}
    return {name: figure * instance_type.chips for name, figure in peak.by_precision.items()}
