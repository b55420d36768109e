"""Learn from the native build of the CDK's validation engine whether the CDK would have anything to report.

The CDK starts that engine as WebAssembly, which takes several times the processor seconds. Whatever the native build finds,
the CDK validates again and reports.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ultracluster_stacks.cloud_assembly import stack_templates

if TYPE_CHECKING:
    from cloudformation_validate import CompositeEngine

IGNORED_RULES: Final = ("W3005", "W1020", "E1018", "W9002", "W9013", "W1103")
"""Rules that aws-cdk-lib leaves out."""


class ValidationFailedError(Exception):
    """The native build found something, or could not tell."""


class NativeValidation:
    """The native build of the engine, which starts while clusters are synthesized."""

    def __init__(self) -> None:
        """Begin to start the engine."""
        background = ThreadPoolExecutor(max_workers=1)
        self._engine = background.submit(_start_engine)
        background.shutdown(wait=False)

    @staticmethod
    def is_usable(environment: Mapping[str, str]) -> bool:
        """Return whether templates are to be validated and a build of the engine is installed.

        There is none for Linux with a glibc before 2.34.
        """
        wanted = environment.get("CDK_VALIDATION") != "false"
        return wanted and find_spec("cloudformation_validate") is not None

    def require(self, assembly: Path) -> None:
        """Validate the templates below a directory.

        Raises:
            ValidationFailedError: If there is something to report, or the engine cannot tell.
        """
        try:
            found = _finds(self._engine.result(), assembly)
        except Exception as error:
            raise ValidationFailedError from error
        if found:
            raise ValidationFailedError


def _start_engine() -> "CompositeEngine":
    from cloudformation_validate import CompositeEngine  # noqa: PLC0415 - is not installed everywhere

    return CompositeEngine()


def _finds(engine: "CompositeEngine", assembly: Path) -> bool:
    """Return whether the engine finds something in a template of an assembly, with the settings of the CDK."""
    from cloudformation_validate import (  # noqa: PLC0415 - is not installed everywhere
        PseudoParameterOverrides,
        RuleFilterConfig,
        ServiceFilter,
        Severity,
        ValidateConfig,
    )

    exclude = RuleFilterConfig(
        ids=list(IGNORED_RULES), services=[ServiceFilter(rule_id="W3697", service="AWS::AutoScaling")]
    )
    for template, region in stack_templates(assembly):
        config = ValidateConfig(
            exclude=exclude,
            severity_level=Severity.WARN,
            pseudo_parameter_overrides=PseudoParameterOverrides(region=region),
        )
        if engine.validate_template(template, config).diagnostics:
            return True
    return False
