"""A fake of the CDK CLI that synthesizes one template."""

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]


FAKE_CDK = """\
import json, pathlib, sys
root = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
stage = root / "assembly-q"
stage.mkdir(parents=True)
(root / "asset.1").mkdir()
(root / "asset.1" / "index.py").write_text("print()")
inner = {"type": "cdk:cloud-assembly",
          "properties": {"directoryName": stage.name, "displayName": "quickstart-us-east-2"}}
(root / "manifest.json").write_text(json.dumps({"artifacts": {"q": inner}}))
stack = {"type": "aws:cloudformation:stack", "environment": "aws://unknown-account/us-east-2",
          "properties": {"stackName": "quickstart-us-east-2-Cluster", "templateFile": "t.json"}}
(stage / "manifest.json").write_text(json.dumps({"artifacts": {"s": stack}}))
(stage / "t.json").write_text(pathlib.Path("template.json").read_text())
asset = {"source": {"path": "../asset.1", "packaging": "zip"}, "destinations": {"d": {"objectKey": "1.zip"}}}
(stage / "s.assets.json").write_text(json.dumps({"files": {"1": asset}}))
"""


TEMPLATE = {"Resources": {"A": {"Type": "A::B::C", "Properties": {"P": "ami-0123456789abcdef0"}}}}
