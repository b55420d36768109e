"""Configurations that span the product: the published rollouts and examples, which are not copied, and those beside the templates."""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["EXPORTED", "GOLDEN", "KEPT", "NEXT", "configurations", "templates_of"]

GOLDEN = Path(__file__).parent
NEXT = GOLDEN / "next"
"""Of the version that is not released yet; a release has a folder of its name, with copies of all."""
EXPORTED = ".export.yaml"
"""How the names of rollouts end whose exported templates are meant; other rollouts end in .yaml, apps in .py."""
KEPT = ("own-app.py", "quickstart.yaml")
"""Those whose templates are kept byte by byte. Of the others, the types with their numbers and what holds data."""

_ROOT = GOLDEN.parents[1]


def configurations() -> Mapping[str, Path]:
    """The file of each configuration, by the name that it is kept under."""
    found = {path.name: path for path in (*NEXT.glob("*.yaml"), *NEXT.glob("*.py"))}
    found |= {path.name: path for path in (_ROOT / "stacks/rollouts").glob("*.yaml")}
    found |= {f"{path.parent.name}.py": path for path in (_ROOT / "examples").glob("*/app.py")}
    return dict(sorted(found.items()))


def templates_of(version: Path, name: str) -> Path:
    """Where the templates of a configuration are kept.

    Args:
        version: The folder of the version.
        name: Name of the configuration.
    """
    return version / f"{name}.json"
