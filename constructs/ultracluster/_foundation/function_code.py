"""Code of the Lambda functions."""

from importlib.util import find_spec
from pathlib import Path

from aws_cdk import IgnoreMode
from aws_cdk import aws_lambda as lambda_

# The packages are installed side by side with many others. The asset contains the facts and the parts of the runtime that run in
# functions, without rules.
_EXCLUDE = [
    "/*",
    "!/ultracluster_catalog/",
    "!/ultracluster_runtime/",
    "/ultracluster_runtime/*",
    "!/ultracluster_runtime/__init__.py",
    "!/ultracluster_runtime/functions/",
    "!/ultracluster_runtime/lifecycle/",
    "!/ultracluster_runtime/metrics/",
    "/ultracluster_runtime/metrics/*",
    "!/ultracluster_runtime/metrics/__init__.py",
    "!/ultracluster_runtime/metrics/block_report.py",
    "!/ultracluster_runtime/metrics/metric_reads.py",
    "!/ultracluster_runtime/metrics/recorded_metrics.py",
    "!/ultracluster_runtime/purchasing/",
    "/ultracluster_runtime/purchasing/*",
    "!/ultracluster_runtime/purchasing/__init__.py",
    "!/ultracluster_runtime/purchasing/offerings.py",
    "!/ultracluster_runtime/resume/",
    "!/ultracluster_runtime/watch/",
    "__pycache__/",
    "*.json",  # prices
]


def runtime_folder() -> Path:
    """Return the folder of `ultracluster_runtime`.

    Raises:
        ImportError: If the package is not installed beside this one.
    """
    # The package is located instead of imported, because its import needs boto3.
    spec = find_spec("ultracluster_runtime")
    if spec is None or spec.origin is None:
        raise ImportError("the package ultracluster_runtime is not installed")
    return Path(spec.origin).parent


def function_code() -> lambda_.Code:
    """Return the code of a function whose handler is in `ultracluster_runtime`; boto3 is part of Lambda's runtime."""
    root = runtime_folder().parent
    return lambda_.Code.from_asset(str(root), exclude=_EXCLUDE, ignore_mode=IgnoreMode.GIT)
