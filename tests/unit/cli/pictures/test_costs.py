"""Costs as stacked bars."""

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from tests.unit.cli.pictures.elements import problems_of, texts_of

from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli.pictures.costs import draw_costs
from ultracluster_stacks import cost
from ultracluster_stacks.config import load_rollout

ROLLOUTS = Path(__file__).parents[4] / "stacks/rollouts"


def estimates(rollout: str = "two-waves.yaml", hours: int = 24) -> list[cost.Estimate]:
    config = load_rollout(ROLLOUTS / rollout, deployable=False).config
    return [
        cost.estimate_cost(
            cost.configured_footprint(cluster),
            usage=cost.Usage(hours=Decimal(hours)),
            prices=cost.catalogue_prices(),
        )
        for cluster in clusters_of(config, None)
    ]


@pytest.mark.parametrize("rollout", sorted(path.name for path in ROLLOUTS.glob("*.yaml")))
@pytest.mark.parametrize("hours", [1, 4380])
def test_the_bars_of_every_rollout_can_be_read(rollout: str, hours: int) -> None:
    assert problems_of(draw_costs(estimates(rollout, hours)).svg()) == []


def test_each_part_has_its_figure_and_its_length() -> None:
    canary, pretrain, finetune = estimates()
    drawn = draw_costs([canary, pretrain, finetune]).svg()
    texts = texts_of(drawn)

    assert "457.54 USD (95.6%)" in texts  # 2 x 9.532 x 24
    assert f"canary in us-east-1: {canary.run.text()} USD for 24 hours" in texts
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height="28.0"', drawn)]
    nodes = [estimate.lines[0].run(estimate.usage).high for estimate in (canary, pretrain)]
    assert widths[0] / max(widths) == pytest.approx(float(nodes[0] / nodes[1]), rel=0.01)


def test_what_is_unknown_is_drawn_and_named() -> None:
    (estimate,) = estimates("quickstart.yaml")
    nodes = replace(
        estimate.lines[0], price=replace(estimate.lines[0].price, amount=None, reason="not listed")
    )
    unknown = replace(estimate, lines=(nodes, *estimate.lines[1:]))
    drawn = draw_costs([unknown]).svg()

    assert "price not known" in texts_of(drawn)
    assert "depends on use" in texts_of(drawn)
    assert "?" in texts_of(drawn)
    assert problems_of(drawn) == []


def test_a_bar_of_nothing_that_is_known_is_drawn() -> None:
    (estimate,) = estimates("quickstart.yaml")
    line = next(line for line in estimate.lines if line.quantity is None)
    drawn = draw_costs([replace(estimate, lines=(replace(line, name="n" * 60),))]).svg()

    assert "Cost of one run: not known USD" not in drawn
    assert problems_of(drawn) == []
