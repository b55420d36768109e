"""Minutes of a block lost on each road."""

from pathlib import Path

from two_roads import CASES, Draws, Figures, table

PAGE = Path(__file__).parents[3] / "docs/evidence/two-roads.md"


def test_page_has_the_table_that_the_command_prints() -> None:
    assert table(lives=1000, nodes=16) in PAGE.read_text()


def test_both_roads_live_the_same_draws() -> None:
    assert Draws(7, Figures(), 16).one == Draws(7, Figures(), 16).one
    batch, group = CASES["drain"]
    draws = Draws(7, Figures(), 16)
    assert batch(draws.one, draws) == group(draws.one, draws) == 40


def test_nodes_that_are_there_save_their_boot() -> None:
    slow = Figures(boot=(60, 60))
    draws = Draws(1, slow, 16)
    batch, group = CASES["the first job comes hours after the start"]
    assert batch(draws.one, draws) - group(draws.one, draws) > 55
    batch, group = CASES["jobs wait when the block starts"]
    assert abs(batch(draws.one, draws) - group(draws.one, draws)) < 5
