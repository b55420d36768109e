"""The example of docs/how-to/use-a-cluster-from-another-app.md does what the page says."""

import re
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import aws_cdk.assertions
import pytest

PAGE = (Path(__file__).parents[3] / "docs/how-to/use-a-cluster-from-another-app.md").read_text()


@pytest.mark.slow
def test_the_outputs_of_a_platform_are_those_that_jobs_of_another_app_need() -> None:
    from tests.unit.ultracluster.builders import IMAGE_ID, ZONE, new_stack

    import ultracluster as uc

    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"Stack": cdk.Stack, "CfnOutput": cdk.CfnOutput, "UltraCluster": uc.UltraCluster}
    exec(block, names)  # noqa: S102 - the page is ours
    stack = new_stack()
    cluster = uc.UltraCluster(
        stack, "Cluster", instance_type="trn2.48xlarge", node_count=2, image_id=IMAGE_ID, zone_id=ZONE
    )
    names["define_outputs"](stack, cluster)

    outputs = cdk.assertions.Template.from_stack(stack).find_outputs("*")
    assert set(outputs) == {"JobQueueArn", "LogGroup", "CompileCache", "Checkpoints"}
