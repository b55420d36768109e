"""Fixtures that values share with the catalogue: what moto and botocore ship."""

from tests.unit.catalog.conftest import botocore_shapes, described_types
from tests.unit.stacks.config.conftest import findings, load, valid, write

__all__ = [
    "botocore_shapes",
    "described_types",
    "findings",
    "load",
    "valid",
    "write",
]
