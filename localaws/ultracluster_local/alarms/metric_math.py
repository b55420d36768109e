"""A subset of metric math: numbers, IDs, arithmetic, comparisons, IF, and FILL with a number.

Where an operand has no data point, the result has none, except under FILL (CloudWatch User Guide, "Using math expressions
with CloudWatch metrics", read 2026-11-21). Everything else is refused, never guessed.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["evaluate"]

_ARITHMETIC: Final[Mapping[type[ast.AST], Callable[[float, float], float]]] = MappingProxyType(
    {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
)
_COMPARISONS: Final[Mapping[type[ast.AST], Callable[[float, float], bool]]] = MappingProxyType(
    {
        ast.Eq: operator.eq,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.NotEq: operator.ne,
    }
)


def evaluate(expression: str, values: Mapping[str, float | None]) -> float | None:
    """Return the data point of an expression in one period, or None.

    Args:
        expression: Metric math expression.
        values: Data points of the period by ID; None where missing.

    Raises:
        ValueError: If the expression uses an unsupported feature.
    """
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"the local AWS does not support the metric math {expression!r}") from error
    return _Expression(expression, values).value(tree)


class _Expression:
    def __init__(self, text: str, values: Mapping[str, float | None]) -> None:
        self._text = text
        self._values = values

    def value(self, node: ast.expr) -> float | None:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name) if name in self._values:
                return self._values[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.value(operand)
                return None if inner is None else -inner
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _ARITHMETIC:
                return self._both(left, right, _ARITHMETIC[type(sign)])
            case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _COMPARISONS:
                return self._both(left, right, _COMPARISONS[type(sign)])
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._called(name, [self.value(each) for each in arguments])
        raise self._unknown()

    def _called(self, name: str, arguments: list[float | None]) -> float | None:
        match name, arguments:
            case "IF", [condition, then, otherwise]:
                return None if condition is None else then if condition else otherwise
            case "FILL", [filled, by]:
                return by if filled is None else filled
        raise self._unknown()

    def _unknown(self) -> ValueError:
        return ValueError(f"the local AWS does not support the metric math {self._text!r}")

    def _both(
        self, left: ast.expr, right: ast.expr, operation: Callable[[float, float], float]
    ) -> float | None:
        first, second = self.value(left), self.value(right)
        # CloudWatch drops the data point of a division by zero.
        if first is None or second is None or (operation is operator.truediv and not second):
            return None
        return float(operation(first, second))
