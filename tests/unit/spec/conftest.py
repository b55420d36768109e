"""Fixtures that values share with the catalogue: what moto and botocore ship."""

from tests.unit.catalog.conftest import botocore_shapes, described_types
from tests.unit.stacks.config.conftest import accepted, findings, load, refused, refused_at, valid, write

__all__ = [
    "accepted",
    "botocore_shapes",
    "described_types",
    "findings",
    "load",
    "refused",
    "refused_at",
    "valid",
    "write",
]
