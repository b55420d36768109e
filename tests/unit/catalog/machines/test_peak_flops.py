"""Peaks of chips: the figures of a node against those that the Neuron documentation gives for whole instances."""

import pytest

from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.machines.peak_flops import PEAK_TFLOPS, node_peak_tflops


# Trn1/Trn1n architecture page of Neuron 2.9.1, whose table is by instance size.
@pytest.mark.parametrize(
    ("name", "half", "single"),
    [("trn1.2xlarge", 190, 47.5), ("trn1.32xlarge", 3040, 760), ("trn1n.32xlarge", 3040, 760)],
)
def test_a_node_of_trainium_has_the_peak_of_its_page(name: str, half: float, single: float) -> None:
    peak = node_peak_tflops(INSTANCE_TYPES[name])
    assert (peak["bf16"], peak["fp16"], peak["fp32"]) == (half, half, single)


def test_a_lower_precision_is_never_slower() -> None:
    for peak in PEAK_TFLOPS.values():
        figures = [
            peak.by_precision[name]
            for name in ("fp8", "mxfp8", "bf16", "fp16", "tf32", "fp32")
            if name in peak.by_precision
        ]
        assert figures == sorted(figures, reverse=True)
        assert peak.source


def test_every_neuron_type_has_a_peak() -> None:
    assert [
        name for name, each in INSTANCE_TYPES.items() if each.is_neuron and not node_peak_tflops(each)
    ] == []


def test_a_chip_without_a_source_has_none() -> None:
    assert node_peak_tflops(INSTANCE_TYPES["p4d.24xlarge"]) == {}
