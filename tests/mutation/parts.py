"""What `make mutation` mutates, and the tests that must notice."""

from dataclasses import dataclass
from typing import Final

__all__ = ["PARTS", "Part"]

_RUNTIME: Final = "constructs/ultracluster_runtime"
_CATALOG: Final = "constructs/ultracluster_catalog"
_SPEC: Final = "constructs/ultracluster_spec"
_CONFIG: Final = "stacks/ultracluster_stacks/config"
_RUNTIME_TESTS: Final = "tests/unit/runtime"
_CONFIG_TESTS: Final = "tests/unit/stacks/config"


@dataclass(frozen=True)
class Part:
    """One subject.

    Attributes:
        files: The modules that are mutated, as patterns from the root of the repository.
        tests: The tests that are tried on each mutant of a function that they call.
        slow_tests: Those that are tried as well on what survived. Default: none.
        every: Only each mutant of so many is tried, drawn by its name. More than 1 where one mutant takes seconds.
            Default: 1.
    """

    files: tuple[str, ...]
    tests: tuple[str, ...]
    slow_tests: tuple[str, ...] = ()
    every: int = 1


PARTS: Final = {
    "purchase": Part(
        files=tuple(
            f"{_RUNTIME}/purchasing/{name}.py"
            for name in (
                "purchase",
                "quotes",
                "order_checks",
                "orders",
                "ledger",
                "evidence",
                "reconcile",
                "ec2_driver",
                "ec2_answers",
            )
        ),
        tests=tuple(
            f"{_RUNTIME_TESTS}/{name}.py"
            for name in (
                "functions/test_window",
                "purchasing/test_ec2_answers",
                "purchasing/test_ec2_driver",
                "purchasing/test_evidence",
                "purchasing/test_offerings",
                "purchasing/test_operator_actions",
                "purchasing/test_order_checks",
                "purchasing/test_orders",
                "purchasing/test_purchase",
                "purchasing/test_purchase_effects",
                "purchasing/test_quotes",
                "purchasing/test_reconcile",
            )
        ),
        slow_tests=(f"{_RUNTIME_TESTS}/purchasing/test_ledger.py",),
    ),
    "plan": Part(
        files=("stacks/ultracluster_stacks/plan/*.py",),
        tests=("tests/unit/stacks/plan",),
    ),
    "drain": Part(
        files=(f"{_RUNTIME}/lifecycle/*.py",),
        tests=tuple(
            f"{_RUNTIME_TESTS}/lifecycle/test_{name}.py"
            for name in ("actions", "plan", "observations", "state")
        ),
        slow_tests=tuple(
            f"{_RUNTIME_TESTS}/lifecycle/test_{name}.py" for name in ("driver", "handler", "reader")
        ),
    ),
    "checks": Part(
        files=(
            *(
                f"{_CATALOG}/{name}.py"
                for name in (
                    "capacity/capacity_blocks",
                    "lustre/lustre_tiers",
                    "machines/nic_layouts",
                    "neuron/compiler_flags",
                    "places/addresses",
                )
            ),
            f"{_SPEC}/[a-z]*.py",
        ),
        tests=("tests/unit/catalog", "tests/unit/spec"),
    ),
    "rules": Part(
        files=(
            f"{_SPEC}/cluster_rules/*.py",
            *(f"{_CONFIG}/reading/{name}.py" for name in ("scalars", "yaml_source")),
        ),
        # Without test_loader*: they load very many files or start processes, and each of them calls every rule.
        tests=("tests/unit/spec", f"{_CONFIG_TESTS}/reading"),
        every=8,
    ),
}
