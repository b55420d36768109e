"""The JSON schema of the rollout file, for editors.

It is looser than the values where `defaults` may provide a required key, and it has no rules across fields. ``python -m ultracluster_stacks.config.schema`` writes docs/rollout.schema.json.
"""

import copy
import json
import sys
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from ultracluster_spec.rollout import Rollout

SCHEMA_FILE: Final = Path("docs/rollout.schema.json")
"""Path of the published schema, relative to the repository."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

# Values that merge key by key with the defaults, so each of their keys is optional.
_MERGED: Final = (
    "Cluster",
    "CapacityRecord",
    "Checkpoints",
    "FileSystem",
    "Network",
    "CustomInstanceType",
)


def rollout_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the rollout file."""
    schema = copy.deepcopy(TypeAdapter(Rollout).json_schema())
    for name in _MERGED:
        schema["$defs"][name].pop("required", None)
    schema["properties"]["defaults"] = {
        "$ref": "#/$defs/Cluster",
        "description": "Defaults of all clusters. Mappings merge key by key; a list or scalar of a "
        "cluster replaces the default.",
    }
    schema["properties"]["base"] = {
        "type": "string",
        "minLength": 1,
        "description": "In an environment file: the base rollout in the same directory, instead of `waves`.",
    }
    schema["properties"]["clusters"] = {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Cluster"},
        "description": "In an environment file: overrides by the name of the cluster.",
    }
    schema["required"].remove("waves")
    schema |= {
        "if": {"required": ["base"]},
        "then": {"properties": {"waves": False}},
        "else": {"required": ["waves"], "properties": {"clusters": False}},
    }
    _tidy(schema)
    return {"$schema": _DIALECT, "title": "ultracluster rollout"} | schema


def schema_text() -> str:
    """Return the schema as published."""
    return json.dumps(rollout_schema(), indent=2) + "\n"


def _tidy(schema: Any) -> None:
    """Drop pydantic's titles, which repeat each key, and disallow keys that match no pattern."""
    if isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        if "patternProperties" in schema:  # pydantic omits this
            schema["additionalProperties"] = False
        for part in schema.values():
            _tidy(part)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else SCHEMA_FILE
    target.write_text(schema_text(), encoding="utf-8")
