"""Independent sources to judge the catalogue by: what moto and botocore ship, read without importing either."""

import gzip
import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest


def _shipped(package: str, path: str) -> Path:
    name = {"cfnlint": "cfn-lint"}.get(package, package)
    return Path(str(distribution(name).locate_file(f"{package}/{path}")))


def _read(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


@pytest.fixture(scope="session")
def described_types() -> Mapping[str, Any]:
    """Answers of EC2's DescribeInstanceTypes, as recorded by moto, by instance type."""
    types: Mapping[str, Any] = _read(_shipped("moto", "ec2/resources/instance_types.json.gz"))
    assert len(types) > 1000
    return types


@pytest.fixture(scope="session")
def offerings() -> Mapping[str, list[dict[str, str]]]:
    """Answers of DescribeInstanceTypeOfferings by zone id, as recorded by moto, by Region."""
    folder = _shipped("moto", "ec2/resources/instance_type_offerings/availability-zone-id")
    regions = {path.name.split(".")[0]: _read(path) for path in folder.glob("*.json.gz")}
    assert len(regions) > 20
    return regions


@pytest.fixture(scope="session")
def botocore_shapes() -> Callable[[str], Mapping[str, Any]]:
    """The shapes of a service model of botocore, by the folder of the model."""

    @cache
    def shapes(model: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = _read(_shipped("botocore", f"data/{model}/service-2.json.gz"))["shapes"]
        return found

    return shapes


@pytest.fixture(scope="session")
def regions_of_cfn_lint() -> Mapping[str, set[str]]:
    """The Regions of each instance type in cfn-lint's data, which it writes from AWS's price lists."""
    path = _shipped("cfnlint", "data/schemas/extensions/aws_ec2_instance/instancetype_enum.json")
    regions: dict[str, set[str]] = {}
    for region, types in _read(path).items():
        if region not in {"all", "description"}:
            for name in types["enum"]:
                regions.setdefault(name, set()).add(region.replace("_", "-"))
    assert len(regions) > 500
    return regions


@pytest.fixture(scope="session")
def commercial_regions() -> frozenset[str]:
    """The Regions of the partition aws, as botocore knows them."""
    aws = _read(_shipped("botocore", "data/partitions.json"))["partitions"][0]
    assert aws["id"] == "aws"
    return frozenset(aws["regions"]) - {"aws-global"}
