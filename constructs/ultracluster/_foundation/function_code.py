"""The code of Lambda functions: some modules of the packages beside this one, and nothing else."""

import hashlib
import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, cast

from aws_cdk import FileAssetPackaging, Stack, Stage
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

__all__ = ["MACHINE_MODULES", "function_code"]

MACHINE_MODULES: Final = tuple(
    f"ultracluster_catalog/machines/{name}.py"
    for name in ("inf2", "instance_type", "instance_types", "machine", "p4", "p5", "p6", "trn1", "trn2")
)
"""Modules of the instance types of the catalogue."""


def function_code(scope: Construct, modules: Sequence[str]) -> lambda_.CfnFunction.CodeProperty:
    """Give the code of a function that runs some of our modules; boto3 comes with its run time.

    They are put into the assembly here. The CDK's way to put a folder there, less a list of what is not wanted, looks at all that
    lies beside the packages, which is the whole of site-packages for most.

    Args:
        scope: Construct of the function, in an app or a stage.
        modules: Their paths, such as ``ultracluster_runtime/functions/window.py``. Without the packages' ``__init__``, so that the
            asset changes only when something changes that the function runs.

    Raises:
        ImportError: If the packages are not installed beside this one.
    """
    # The packages lie side by side, in the repository as in site-packages. Found, not imported: synthesis needs no boto3.
    spec = find_spec("ultracluster_runtime")
    if spec is None or spec.origin is None:
        raise ImportError("the package ultracluster_runtime is not installed beside ultracluster")
    root = Path(spec.origin).parents[1]
    fingerprint = _fingerprint(root, modules)
    assembly = cast("Stage", Stage.of(scope))
    folder = Path(assembly.asset_outdir, f"asset.{fingerprint}")
    for module in modules:
        copy = folder / module
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / module, copy)
    location = Stack.of(scope).synthesizer.add_file_asset(
        source_hash=fingerprint,
        packaging=FileAssetPackaging.ZIP_DIRECTORY,
        file_name=os.path.relpath(folder, assembly.outdir),
        display_name=f"{type(scope).__name__}/Code",
    )
    return lambda_.CfnFunction.CodeProperty(s3_bucket=location.bucket_name, s3_key=location.object_key)


def _fingerprint(root: Path, modules: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for module in modules:
        content = (root / module).read_bytes()
        digest.update(f"{module} {len(content)}\n".encode() + content)
    return digest.hexdigest()
