"""What services know by name: the lists and mappings of tables.toml, by the modules that use them."""

import tomllib
from pathlib import Path
from typing import Any, Final

__all__ = ["TABLES"]

TABLES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
