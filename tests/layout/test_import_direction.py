"""Each layer imports downwards only, and has one kind of dependency: the arrows of CONTRIBUTING.md, Layout."""

import ast
import gzip
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import botocore
import pytest

# What a module may import apart from the standard library and what its own pattern covers. The longest pattern counts.
ARROWS: dict[str, set[str]] = {
    "app": {"ultracluster_stacks"},
    "ultracluster": {
        "aws_cdk",
        "constructs",
        "jsii",
        "ultracluster_catalog",
        "ultracluster_checks",
        "ultracluster_rules",
    },
    # What nodes and jobs run: texts, which import nothing of ours.
    "ultracluster.scripts": {"torch", "torch_neuronx", "torch_xla"},
    "ultracluster_catalog": set(),
    "ultracluster_rules": {"ultracluster_catalog"},
    "ultracluster_checks": {"ultracluster_catalog", "ultracluster_rules"},
    "ultracluster_cli": {
        "boto3",
        "botocore",
        "matplotlib",
        "plotly",
        "rich",
        "typer",
        "ultracluster_catalog",
        "ultracluster_checks",
        "ultracluster_local",
        "ultracluster_rules",
        "ultracluster_runtime",
        "ultracluster_stacks.check",
        "ultracluster_stacks.config",
        "ultracluster_stacks.cost",
        "ultracluster_stacks.export",
        "ultracluster_stacks.plan",
    },
    "ultracluster_local": {
        "boto3",
        "botocore",
        "cfnlint",
        "jmespath",
        "moto",
        "ultracluster_catalog",
        "ultracluster_rules",
        "werkzeug",
        "yaml",
    },
    "ultracluster_local.pytest_plugin": {"pytest", "ultracluster_local"},
    "ultracluster_runtime": {"boto3", "botocore", "ultracluster_catalog", "ultracluster_rules"},
    "ultracluster_stacks": {
        "aws_cdk",
        "constructs",
        "jsii",
        "ultracluster",
        "ultracluster_catalog",
        "ultracluster_rules",
    },
    "ultracluster_stacks.synthesis.assembly": {
        "ultracluster_catalog",
        "ultracluster_rules",
        "ultracluster_stacks.config",
    },
    "ultracluster_stacks.check": {
        "ultracluster_catalog",
        "ultracluster_checks",
        "ultracluster_rules",
        "yaml",
    },
    "ultracluster_stacks.config": {
        "pydantic",
        "pydantic_core",
        "ultracluster_catalog",
        "ultracluster_rules",
        "yaml",
    },
    "ultracluster_stacks.cost": {
        "ultracluster_catalog",
        "ultracluster_rules",
        "ultracluster_stacks.config",
        "ultracluster_stacks.plan",
    },
    "ultracluster_stacks.export": {"ultracluster_catalog", "ultracluster_rules"},
    "ultracluster_stacks.plan": {"ultracluster_catalog", "ultracluster_rules", "yaml"},
}

PURCHASING_MODULE = "ultracluster_runtime.purchasing.ec2_driver"
FAKE_AWS = "ultracluster_local"  # it answers these calls, and can reach nothing but itself


def test_every_arrow_starts_at_some_module(modules: Mapping[str, ast.Module]) -> None:
    assert {_pattern(name) for name in modules} == set(ARROWS)


def test_every_import_follows_an_arrow(modules: Mapping[str, ast.Module]) -> None:
    assert [
        f"{name} imports {target}"
        for name, tree in modules.items()
        for target in _imports(tree)
        if not _allowed(name, target)
    ] == []


@pytest.mark.parametrize(
    ("importer", "target"),
    [
        ("ultracluster.network", "boto3"),
        ("ultracluster.network", "pydantic"),
        ("ultracluster.network", "ultracluster_runtime.purchasing.offerings"),
        ("ultracluster_catalog.places.zones", "yaml"),
        ("ultracluster_checks.jobs", "aws_cdk"),
        ("ultracluster_checks.jobs", "yaml"),
        ("ultracluster_cli.deploy.command", "aws_cdk"),
        ("ultracluster_cli.deploy.command", "ultracluster_stacks.stacks.cluster_stage"),
        ("ultracluster_cli.deploy.command", "ultracluster"),
        ("ultracluster_runtime.purchasing.offerings", "aws_cdk"),
        ("ultracluster_stacks.synthesis.assembly.parts", "aws_cdk"),
        ("ultracluster_stacks.config.models", "aws_cdk"),
        ("ultracluster_stacks.config.models", "ultracluster_stacks.stacks.cluster_stage"),
        ("ultracluster_stacks.stacks.cluster_stage", "boto3"),
        ("ultracluster.network", ".placement"),
        ("ultracluster.network", "constructs.ultracluster.placement"),
    ],
)
def test_an_import_upwards_is_seen(importer: str, target: str) -> None:
    assert not _allowed(importer, target)


@pytest.mark.parametrize(
    ("importer", "target"),
    [
        ("ultracluster.network", "constructs"),
        ("ultracluster.network", "ultracluster_catalog.places.zones"),
        ("ultracluster_cli.deploy.command", "ultracluster_stacks.config.models"),
        ("ultracluster_stacks.stacks.cluster_stage", "ultracluster_stacks.config"),
        ("ultracluster_runtime.purchasing.offerings", "json"),
    ],
)
def test_an_import_downwards_passes(importer: str, target: str) -> None:
    assert _allowed(importer, target)


def test_one_module_alone_names_the_purchase_calls(modules: Mapping[str, ast.Module]) -> None:
    calls = _purchase_calls()

    assert {"PurchaseCapacityBlock", "purchase_capacity_block_extension"} <= calls
    assert {
        name for name, tree in modules.items() if not _within(name, FAKE_AWS) and _words(tree) & calls
    } == {PURCHASING_MODULE}


@pytest.mark.parametrize(
    "code",
    [
        "client.purchase_capacity_block(InstancePlatform='Linux/UNIX')",
        "getattr(client, 'purchase_capacity_block')()",
        "client._make_api_call('PurchaseCapacityBlock', {})",
        "call = client.purchase_capacity_block_extension",
    ],
)
def test_a_purchase_call_is_seen(code: str) -> None:
    assert _words(ast.parse(code)) & _purchase_calls()


def _pattern(name: str) -> str:
    return max(
        (pattern for pattern in ARROWS if _within(name, pattern)), key=len, default=f"no arrow for {name}"
    )


def _within(name: str, pattern: str) -> bool:
    return name == pattern or name.startswith(f"{pattern}.")


def _allowed(importer: str, target: str) -> bool:
    pattern = _pattern(importer)
    if target.startswith("constructs.ultracluster"):
        return False  # a second identity of our packages
    return target.partition(".")[0] in sys.stdlib_module_names or any(
        _within(target, permitted) for permitted in ARROWS[pattern] | {pattern}
    )


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, level=0):
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case ast.ImportFrom(module=module):
                yield f"{'.' * node.level}{module or ''}"
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(target)), *_],
            ):
                yield target


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
