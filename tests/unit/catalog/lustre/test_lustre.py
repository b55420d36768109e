from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ultracluster_catalog.lustre.lustre import LUSTRE_PORTS, METADATA_IOPS

_Shapes = Callable[[str], Mapping[str, Any]]


@pytest.fixture(scope="module")
def shapes(botocore_shapes: _Shapes) -> Mapping[str, Any]:
    return botocore_shapes("fsx/2018-03-01")


def test_metadata_iops_have_the_bounds_of_fsx(shapes: Mapping[str, Any]) -> None:
    bounds = shapes["MetadataIops"]
    assert (METADATA_IOPS[0], METADATA_IOPS[-1]) == (bounds["min"], bounds["max"])
    assert METADATA_IOPS[:6] == (1500, 3000, 6000, 12_000, 24_000, 36_000)


def test_opens_the_ports_of_the_user_guide() -> None:
    # FSx for Lustre User Guide, access control with security groups: TCP 988 and 1018 to 1023, both ways.
    assert LUSTRE_PORTS == ((988, 988), (1018, 1023))
