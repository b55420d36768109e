"""Resources of all templates, by type."""

from typing import Any


def of_type(template: dict[str, Any], resource_type: str) -> list[dict[str, Any]]:
    return [each for each in template["Resources"].values() if each["Type"] == resource_type]
