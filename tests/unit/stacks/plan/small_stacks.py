"""Small stacks, to compare."""

from pathlib import Path
from typing import Any

from ultracluster_stacks.plan import StackTemplate


def stack(
    name: str = "s", *, outputs: Any = None, assembly: Path | None = None, **resources: Any
) -> StackTemplate:
    template = {"Resources": resources, "Outputs": outputs or {}}
    return StackTemplate(cluster="c", name=name, region="us-east-2", template=template, assembly=assembly)


def topic(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::SNS::Topic", "Properties": properties}
