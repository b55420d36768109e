"""examples/node-image on the local AWS: deployed, moved to a newer parent, and deleted. No AMI is made by any of it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples/node-image/app.py"
REGION = "us-east-2"
NEWER = "ami-00000000000000001"


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("node-image") / "cdk.out"
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        env=bare_environment(CDK_OUTDIR=str(directory)),
        cwd=directory.parent,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return directory


def test_a_newer_parent_makes_a_new_recipe_and_changes_the_pipeline_in_place(
    local_aws: LocalAws, assembly: Path, tmp_path: Path
) -> None:
    assert [each.status for each in deploy_assembly(local_aws, assembly)] == ["CREATE_COMPLETE"]
    builder = local_aws.client("imagebuilder", REGION)
    (before,) = builder.list_image_pipelines()["imagePipelineList"]
    assert "schedule" not in before
    recipe = builder.get_image_recipe(imageRecipeArn=before["imageRecipeArn"])["imageRecipe"]
    assert recipe["parentImage"] == "ami-0123456789abcdef0"
    (used,) = recipe["components"]
    data = builder.get_component(componentBuildVersionArn=used["componentArn"])["component"]["data"]
    assert "export UC_MODE='bake'" in data

    other = tmp_path / "cdk.out"
    shutil.copytree(assembly, other)
    path = other / "NodeImage.template.json"
    template = json.loads(path.read_text())
    (changing,) = [
        one for one in template["Resources"].values() if one["Type"] == "AWS::ImageBuilder::ImageRecipe"
    ]
    changing["Properties"] |= {
        "ParentImage": NEWER,
        "Name": "nodes-0123456789ab",
    }  # as the construct names it anew
    path.write_text(json.dumps(template))
    assert [each.status for each in deploy_assembly(local_aws, other)] == ["UPDATE_COMPLETE"]
    (after,) = builder.list_image_pipelines()["imagePipelineList"]
    assert after["arn"] == before["arn"]
    changed = builder.get_image_recipe(imageRecipeArn=after["imageRecipeArn"])["imageRecipe"]
    assert (changed["parentImage"], changed["components"]) == (NEWER, recipe["components"])
    with pytest.raises(builder.exceptions.ClientError, match="does not exist"):
        builder.get_image_recipe(imageRecipeArn=before["imageRecipeArn"])

    assert {each.status for each in destroy_assembly(local_aws, other)} == {"DELETE_COMPLETE"}
    assert builder.list_image_pipelines()["imagePipelineList"] == []
    assert not local_aws.client("ec2", REGION).describe_instances()["Reservations"]
