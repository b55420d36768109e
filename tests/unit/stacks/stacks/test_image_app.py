"""The app of `ultracluster ami bake` defines a pipeline of the AMI that it is told of."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment

pytestmark = pytest.mark.slow


def test_the_stack_has_the_pipeline_with_its_parent(tmp_path: Path) -> None:
    context = {"name": "nodes", "region": "us-east-2", "parent": "ami-0123456789abcdef0"}
    done = subprocess.run(
        [sys.executable, "-m", "ultracluster_stacks.stacks.image_app"],
        env=bare_environment(CDK_OUTDIR=str(tmp_path), CDK_CONTEXT_JSON=json.dumps(context)),
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    template = json.loads((tmp_path / "nodes-image.template.json").read_text())
    properties = {each["Type"]: each["Properties"] for each in template["Resources"].values()}
    assert properties["AWS::ImageBuilder::ImagePipeline"]["Name"] == "nodes"
    assert properties["AWS::ImageBuilder::ImageRecipe"]["ParentImage"] == context["parent"]
