"""What is kept of each version: configurations that span the product, and the templates that they gave.

`next` is the version that is not released yet. Its configurations are the published ones, which are not copied, and those
beside its templates. A release is frozen with copies of all.
"""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["EXPORTED", "GOLDEN", "NEXT", "configurations", "templates_of"]

GOLDEN = Path(__file__).parent
NEXT = GOLDEN / "next"
EXPORTED = ".export.yaml"
"""How the names of rollouts end whose exported templates are kept; other rollouts end in .yaml, apps in .py."""

_ROOT = GOLDEN.parents[1]


def configurations(version: Path) -> Mapping[str, Path]:
    """The sources of a version, by the name that they are kept under.

    Args:
        version: Its folder.
    """
    found = {path.name: path for path in (*version.glob("*.yaml"), *version.glob("*.py"))}
    if version == NEXT:
        found |= {path.name: path for path in (_ROOT / "stacks/rollouts").glob("*.yaml")}
        found |= {f"{path.parent.name}.py": path for path in (_ROOT / "examples").glob("*/app.py")}
    return dict(sorted(found.items()))


def templates_of(version: Path, name: str) -> Path:
    """Where the templates of a configuration are.

    Args:
        version: The folder of the version.
        name: Name of the configuration.
    """
    return version / f"{name}.json"
