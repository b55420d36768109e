"""Trn3: Trainium3. Known, but sold by agreement only: EC2 has published no instance type of it.

On the day that it does, describe the types in `machines` as trn2.py does; all else reads them there, which
tests/unit/catalog/machines/test_trn3.py shows. Network cards, zones, Regions, prices, quotas and the names of UltraServers
are not published, and so are not here.
"""

from datetime import date
from types import MappingProxyType
from typing import Final

from ultracluster_catalog.machines.machine import AnnouncedChip, MachineFamily, PeakTflops

_PAGE: Final = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware"

TRN3: Final = MachineFamily(
    machines=(),
    peaks={
        "Trainium3": PeakTflops(
            by_precision=MappingProxyType(
                {
                    "mxfp8": 2517,
                    "mxfp4": 2517,
                    "bf16": 671,
                    "fp16": 671,
                    "tf32": 671,
                    "fp32": 183,
                }
            ),
            source=f"{_PAGE}/trainium3.html; sparse figures left out",
            dated=date(2026, 8, 21),
        )
    },
    announced=AnnouncedChip(
        name="Trainium3",
        prefix="trn3",
        cores_per_chip=8,
        logical_nc_config=2,
        device_memory_gib=144,
        ultraservers={4: 16, 36: 4},  # Trn3 Gen1 and Gen2
        # No trn3 among the instance types of botocore 1.44.8 and of 34 Regions.
        asked=date(2026, 11, 26),
        source=f"{_PAGE}/trn3-arch.html",
        dated=date(2026, 8, 21),
    ),
)
"""The family, with everything that is known about its chip."""
