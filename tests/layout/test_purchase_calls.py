"""One module alone can buy: no other names a call of EC2 that costs money. Import arrows are contracts in pyproject.toml."""

import ast
import gzip
import re
from collections.abc import Mapping
from pathlib import Path

import botocore

PURCHASING_MODULE = "ultracluster_runtime.purchasing.ec2_driver"
FAKE_AWS = "ultracluster_local"  # it answers these calls, and can reach nothing but itself


def test_one_module_alone_names_the_purchase_calls(modules: Mapping[str, ast.Module]) -> None:
    calls = _purchase_calls()

    assert {"PurchaseCapacityBlock", "purchase_capacity_block_extension"} <= calls
    assert {
        name for name, tree in modules.items() if name.partition(".")[0] != FAKE_AWS and _words(tree) & calls
    } == {PURCHASING_MODULE}


def _words(tree: ast.Module) -> set[str]:
    """Attributes and whole strings of a module: how a call of boto3 can be named."""
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    strings = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return attributes | strings


def _purchase_calls() -> set[str]:
    """EC2's purchase operations by botocore's own model, as the API and as boto3 spell them."""
    (model,) = Path(botocore.__file__).parent.glob("data/ec2/2016-11-15/service-2.json.gz")
    operations = set(
        re.findall(r'"(Purchase\w+)":\{\s*"name":', gzip.decompress(model.read_bytes()).decode())
    )
    return operations | {re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower() for operation in operations}
