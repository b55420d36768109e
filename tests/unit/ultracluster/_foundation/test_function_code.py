"""The code of the Lambda functions: what their handlers import, and no rules."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import botocore
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import block, ultra_cluster

import ultracluster as uc
from ultracluster._foundation import function_code
from ultracluster_cli.records import ALL_RECORDS

pytestmark = pytest.mark.slow

PACKAGES = ["ultracluster_catalog", "ultracluster_runtime"]


@pytest.fixture
def synthesize(tmp_path: Path) -> Callable[[], tuple[Path, dict[str, Any]]]:
    """Synthesize a cluster with each function of ours; the folder of their code and the functions."""

    def run() -> tuple[Path, dict[str, Any]]:
        outdir = Path(tempfile.mkdtemp(dir=tmp_path))
        app = cdk.App(analytics_reporting=False, outdir=str(outdir), tree_metadata=False, stack_traces=False)
        stack = cdk.Stack(app, "Test", env=cdk.Environment(region="us-east-2"))
        cluster = ultra_cluster(stack, capacity=block(), alarms=uc.Alarms(), cluster_name="llama")
        uc.ClusterBudget(stack, "Budget", monthly_usd=1, tag_value="llama", queues_to_close=[cluster.queue])
        app.synth()
        (asset,) = outdir.glob("asset.*")
        return asset, dict(assertions.Template.from_stack(stack).find_resources("AWS::Lambda::Function"))

    return run


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the packages, from which the functions take their code."""
    root = tmp_path / "packages"
    for package in [*PACKAGES, "ultracluster_spec"]:
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(
            Path(spec.origin).parent, root / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    origin = str(root / "ultracluster_runtime" / "__init__.py")
    monkeypatch.setattr(function_code, "find_spec", lambda name: ModuleSpec(name, None, origin=origin))
    return root


def test_handlers_need_nothing_but_their_asset_and_boto3(synthesize: Any, tmp_path: Path) -> None:
    asset, functions = synthesize()
    handlers = {each["Properties"]["Handler"] for each in functions.values()}
    assert handlers == {
        "index.handler",
        "ultracluster_runtime.lifecycle.handler.handler",
        "ultracluster_runtime.watch.handler.handler",
    }
    # Alone, as on Lambda: no site-packages but boto3's.
    layer = tmp_path / "layer"
    layer.mkdir()
    for name in ("boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six.py", "urllib3"):
        (layer / name).symlink_to(Path(botocore.__file__).parents[1] / name)
    for module in {each.rpartition(".")[0] for each in handlers} - {"index"}:
        program = (
            f"import importlib, sys; sys.path[:0] = [{str(asset)!r}, {str(layer)!r}]\n"
            f"assert callable(importlib.import_module({module!r}).handler)"
        )
        done = subprocess.run([sys.executable, "-ISBc", program], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_no_function_carries_rules(synthesize: Any) -> None:
    asset, functions = synthesize()
    assert {path.name for path in asset.iterdir()} == set(PACKAGES)
    files = [path for path in asset.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= {".py", ".typed"}
    code = "".join(path.read_text("utf-8") for path in files) + str(functions)
    texts = {text for rule in ALL_RECORDS.values() for text in (rule.summary, rule.remedy)}
    assert [text for text in texts if text in code] == []


def test_editing_a_rule_changes_no_function(synthesize: Any, packages: Path) -> None:
    before = synthesize()[0].name
    (packages / "__pycache__").mkdir()
    compiled = packages / "ultracluster_runtime" / "watch" / "__pycache__" / "handler.cpython-311.pyc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"compiled")
    texts = list(packages.glob("ultracluster_spec/*.py"))
    assert len(texts) > 1
    for text in texts:
        text.write_text(text.read_text("utf-8") + "# edited\n", "utf-8")
    assert synthesize()[0].name == before


def test_editing_a_handler_is_a_new_asset(synthesize: Any, packages: Path) -> None:
    before = synthesize()[0].name
    handler = packages / "ultracluster_runtime" / "watch" / "handler.py"
    handler.write_text(handler.read_text("utf-8") + "# edited\n", "utf-8")
    assert synthesize()[0].name != before
