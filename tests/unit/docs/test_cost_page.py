"""The examples of cost_by_hand.md: each calculation by hand is computed, and is what the command says, to the cent."""

import ast
import json
import operator
import re
import shlex
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli.main import main

PAGE = Path(__file__).with_name("cost_by_hand.md")
EXAMPLES = re.findall(
    r"^### (.+?)$.*?```yaml\n(.*?)```.*?```bash\n(.*?)```\n\n(\| line .*?)\n\n(Without: .*?)$",
    PAGE.read_text(),
    re.MULTILINE | re.DOTALL,
)
OPERATORS: dict[type, Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def computed(calculation: str) -> Decimal:
    """What a calculation such as ``4 x 35.7608 x 336`` comes to."""

    def value(node: ast.expr) -> Decimal:
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        return Decimal(ast.unparse(node))

    return value(ast.parse(calculation.replace(" x ", " * "), mode="eval").body)


def cents(amount: Decimal | str) -> Decimal:
    return Decimal(amount).quantize(Decimal("0.01"), ROUND_HALF_UP)


def test_the_page_has_three_examples() -> None:
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize("example", EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_a_calculation_by_hand_matches_the_command(
    example: tuple[str, ...], tmp_path: Path, capsys: Any
) -> None:
    _, rollout, command, table, without = example
    path = tmp_path / "rollout.yaml"
    path.write_text(rollout)
    program, *arguments = shlex.split(command.strip().replace("rollout.yaml", str(path)))

    assert program == "ultracluster"
    assert main([*arguments, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["clusters"]

    by_hand: dict[str, Decimal] = {}
    for row in table.splitlines()[2:]:
        name, calculation, shown = (cell.strip() for cell in row.strip("|").split("|"))
        assert cents(computed(calculation)) == Decimal(shown), row
        by_hand[name] = Decimal(shown)
    assert by_hand == said(told)
    left_out = re.split(r"[.:]", without.removeprefix("Without: "))[0]
    assert left_out.split(", ") == told["run"]["without"]


def said(told: dict[str, Any]) -> dict[str, Decimal]:
    """What the command says of a run: by line, and for ranges also the high end."""
    found: dict[str, Decimal] = {}
    for name, amount in [*((line["name"], line["run"]) for line in told["lines"]), ("in all", told["run"])]:
        if amount["low"] is None:
            continue
        found[name] = cents(amount["low"])
        if amount["high"] != amount["low"]:
            found[f"{name}, at most"] = cents(amount["high"])
    return found


def test_the_price_of_a_million_tokens_is_the_one_of_the_page(tmp_path: Path, capsys: Any) -> None:
    _, rollout, command, _, without = EXAMPLES[0]
    (tmp_path / "rollout.yaml").write_text(rollout)
    arguments = shlex.split(command.strip().replace("rollout.yaml", str(tmp_path / "rollout.yaml")))[1:]
    main([*arguments, "--json"])
    (told,) = json.loads(capsys.readouterr().out)["clusters"]

    assert f"= {Decimal(told['million_tokens']['low']).quantize(Decimal('0.0001'))}." in without
