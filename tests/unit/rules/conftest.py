"""Fixtures that rules share with the catalogue: what moto and botocore ship."""

from tests.unit.catalog.conftest import botocore_shapes, described_types

__all__ = ["botocore_shapes", "described_types"]
