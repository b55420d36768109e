"""Fixtures that values share with the catalogue: what botocore ships."""

from tests.unit.catalog.conftest import botocore_shapes
from tests.unit.stacks.config.conftest import accepted, findings, load, refused, refused_at, valid, write

__all__ = ["accepted", "botocore_shapes", "findings", "load", "refused", "refused_at", "valid", "write"]
