"""Problems of a template, as the rules report them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ultracluster_checks.template import Property, Templates
from ultracluster_rules.credentials import hide_credentials
from ultracluster_rules.findings import Finding

__all__ = ["Find", "Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with its place, code, actual and allowed values, and remedy.

    Attributes:
        at: The value that is wrong, or the place where one is missing.
        code: Code of the rule.
        problem: What is wrong, with the value got.
        allowed: What would be right. Default: not said.
        remedy: What to do. Default: not said.
    """

    at: Property
    code: str
    problem: str
    allowed: str = ""
    remedy: str = ""

    @classmethod
    def of(cls, finding: Finding, at: Property) -> "Problem":
        """Return a problem at a property.

        Args:
            finding: What it has found.
            at: The value that is wrong, or the place where one is missing.
        """
        return cls(at, finding.code, finding.problem, finding.allowed, finding.remedy)

    def finding(self) -> Finding:
        """Convert to a finding with logical ID, property path, file and line."""
        resource = self.at.resource
        return Finding(
            code=self.code,
            problem=_shown(self.problem),
            allowed=_shown(self.allowed),
            remedy=self.remedy,
            path=_shown(str(self.at)),
            location=resource.template.source.location(("Resources", resource.logical_id, *self.at.path)),
        )


def _shown(text: str) -> str:
    """Return text without control characters and credentials."""
    visible = "".join(each if each.isascii() and each.isprintable() else ascii(each)[1:-1] for each in text)
    return hide_credentials(visible)


Find = Callable[[Templates], Iterator[Problem]]
"""A rule: it looks at the templates and says what is wrong. What it cannot know is not wrong."""
