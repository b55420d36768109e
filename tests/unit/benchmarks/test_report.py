"""From measurements to promises, a table and a plot."""

import json
from pathlib import Path
from typing import Any

import pytest
from report import fitted_exponent, shows, write_report
from tests.unit.cli.pictures.elements import problems_of


def case(cpu: float, *, clusters: int = 0, resources: int = 0) -> dict[str, Any]:
    cost = {"runs": 20, "cpu": cpu, "node_cpu": cpu / 2, "wall": cpu, "python_mib": 100.0, "node_mib": 200.0}
    return {"what": f"something of {cpu}", "clusters": clusters, "resources": resources, **cost}


def results(**cases: Any) -> dict[str, Any]:
    measured = {
        "hello": case(1, resources=1),
        "help": case(0.2),
        "ours": case(2, clusters=1, resources=63),
        "ours known": case(0.3, clusters=1, resources=63),
        "by hand": case(3, clusters=1, resources=63),
        "ours 3": case(2.2, clusters=3, resources=189),
        "ours 10": case(2.9, clusters=10, resources=630),
        "ours 10 one changed": case(2.5, clusters=10, resources=630),
        "parallelcluster": case(6, clusters=1, resources=60),
    }
    scripts = {"search": [2.5, 2.4, 360.0], "validation of 90 clusters": [0.2]}
    local = {f"local AWS, {size}": [2.0 * size, 3.0 * size] for size in (1, 3, 10)}
    return {
        "date": "2026-11-21",
        "machine": "a machine",
        "rounds": 5,
        "versions": {"jsii": "1"},
        "missing": {"troposphere": "no network"},
        "cases": measured | cases,
        "scripts": scripts | local,
    }


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_fits_the_exponent_of_growth(exponent: float) -> None:
    points = [(float(n), 0.3 * n**exponent) for n in (1, 3, 10, 30, 90)]

    assert fitted_exponent(points) == pytest.approx(exponent)


def test_each_promise_is_kept_at_its_bound_and_broken_beyond() -> None:
    kept = {what: holds for what, _, _, holds in shows(results(ours=case(2.3, clusters=1, resources=63)))}
    broken = {what: holds for what, _, _, holds in shows(results(ours=case(2.4, clusters=1, resources=63)))}

    assert kept["One cluster without cache, relative to hello world"]
    assert not broken["One cluster without cache, relative to hello world"]
    assert kept["Exponent of deployment time on the local AWS"]


def test_writes_the_figures_into_their_place_and_leaves_the_rest(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text("before\n<!-- figures: begin -->\nold figures\n<!-- figures: end -->\nafter\n")
    (tmp_path / "run").mkdir()

    write_report(results(), tmp_path / "run", docs=tmp_path)
    once = page.read_text()
    write_report(results(), tmp_path / "run", docs=tmp_path)

    assert page.read_text() == once
    assert once.startswith("before\n")
    assert once.endswith("\nafter\n")
    assert "old figures" not in once
    assert "| One cluster without cache, relative to hello world | 2 x | 2.3 x | yes |" in once
    assert (
        "No target: one cluster without cache takes 0.667 x the time of a handwritten Python app with the same resources."
        in once
    )
    assert "Without troposphere: no network." in once
    assert json.loads((tmp_path / "run/results.json").read_text()) == results()
    assert "| what | CPU s |" in (tmp_path / "run/results.md").read_text()
    assert problems_of((tmp_path / "run/growth.svg").read_text()) == []
