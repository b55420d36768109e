"""The code of Lambda functions: some modules of the packages beside this one, and nothing else."""

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from aws_cdk import AssetHashType, AssetStaging, FileAssetPackaging, IgnoreMode, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

__all__ = ["function_code"]


def function_code(scope: Construct, modules: Sequence[str]) -> lambda_.CfnFunction.CodeProperty:
    """Give the code of a function that runs some of our modules; boto3 comes with its run time.

    Not by the L2 asset: it imports the bucket of assets as well, which nobody here asks for, and for its ARN the CDK loads
    its table of all Regions.

    Args:
        scope: Construct of the function; gets the child ``Code``.
        modules: Their paths, such as ``ultracluster_runtime/window.py``. Without the packages' ``__init__``, so that the
            asset changes only when something changes that the function runs.

    Raises:
        ImportError: If the packages are not installed beside this one.
    """
    # The packages lie side by side, in the repository as in site-packages. Found, not imported: synthesis needs no boto3.
    spec = find_spec("ultracluster_runtime")
    if spec is None or spec.origin is None:
        raise ImportError("the package ultracluster_runtime is not installed beside ultracluster")
    root = Path(spec.origin).parents[1]
    folders = sorted({str(parent) for module in modules for parent in Path(module).parents} - {"."})
    staging = AssetStaging(
        scope,
        "Code",
        source_path=str(root),
        # Our own hash: to find its own, the CDK would read all that lies beside the packages, which is the whole of
        # site-packages for most, and keep what it found in the home directory.
        asset_hash=_fingerprint(root, modules),
        asset_hash_type=AssetHashType.CUSTOM,
        exclude=[
            "/*",
            *(line for folder in folders for line in (f"!/{folder}", f"/{folder}/*")),
            *(f"!/{module}" for module in modules),
        ],
        # As globs, every pattern would be parsed anew for every file that lies there.
        ignore_mode=IgnoreMode.GIT,
    )
    stack = Stack.of(scope)
    location = stack.synthesizer.add_file_asset(
        source_hash=staging.asset_hash,
        packaging=FileAssetPackaging.ZIP_DIRECTORY,
        file_name=staging.relative_staged_path(stack),
        display_name=f"{type(scope).__name__}/Code",
    )
    return lambda_.CfnFunction.CodeProperty(s3_bucket=location.bucket_name, s3_key=location.object_key)


def _fingerprint(root: Path, modules: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for module in modules:
        content = (root / module).read_bytes()
        digest.update(f"{module} {len(content)}\n".encode() + content)
    return digest.hexdigest()
