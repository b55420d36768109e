"""Templates of stacks to compare."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ultracluster_spec.untrusted_files import parse_untrusted_json
from ultracluster_stacks.yaml_template import TemplateError, read_yaml_template


@dataclass(frozen=True, kw_only=True, slots=True)
class StackTemplate:
    """A stack with its template.

    Attributes:
        cluster: Name of the stage; empty if unknown.
        account: Account ID in a cloud assembly. None is the account of the credentials.
        paths: Construct path by logical ID, as far as known.
        assembly: Directory of the assets. None if they are not available.
        size_bytes: Size of the template's text in bytes. 0 if unknown.
        settings: Properties of the stack in a cloud assembly, such as ``tags`` and ``terminationProtection``, and its
            ``displayName``. Empty if unknown.
    """

    cluster: str
    name: str
    region: str
    template: Mapping[str, Any]
    account: str | None = None
    paths: Mapping[str, str] = field(default_factory=dict)
    assembly: Path | None = None
    size_bytes: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Key by which the old and the new template of a stack are matched."""
        return self.region, self.name

    @property
    def resources(self) -> Mapping[str, Mapping[str, Any]]:
        """Resources by logical ID."""
        resources: Mapping[str, Mapping[str, Any]] = self.template.get("Resources") or {}
        return resources


def read_template(text: str) -> dict[str, Any]:
    """Parse a template in JSON or YAML; one that cannot be read is a ValueError."""
    try:
        template = (
            parse_untrusted_json(text) if text.lstrip().startswith("{") else read_yaml_template(text)[0]
        )
    except TemplateError as error:
        raise ValueError(f"line {error.line}: {error.problem}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    resources = template.get("Resources") if isinstance(template, dict) else None
    if not isinstance(resources, dict) or not all(isinstance(each, dict) for each in resources.values()):
        raise ValueError("it has no Resources")
    return dict(template)
