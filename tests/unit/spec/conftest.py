"""Fixtures that values share with the catalogue: what botocore ships."""

from tests.unit.catalog.conftest import botocore_shapes

__all__ = ["botocore_shapes"]
