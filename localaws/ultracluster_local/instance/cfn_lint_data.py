"""Where cfn-lint keeps its data: schemas of resource types, and the actions of AWS's Service Authorization Reference."""

import importlib.util
from functools import cache
from pathlib import Path

__all__ = ["data_directory"]


@cache
def data_directory() -> Path:
    """Return the folder of cfn-lint's data."""
    found = importlib.util.find_spec("cfnlint")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("the local AWS needs cfn-lint; reinstall ultracluster-local")
    return Path(found.origin).parent / "data"
