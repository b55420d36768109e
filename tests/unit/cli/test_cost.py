import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROLLOUTS = Path(__file__).parents[3] / "stacks" / "rollouts"
TWO_WAVES, QUICKSTART, JOBS = (str(ROLLOUTS / f"{name}.yaml") for name in ("two-waves", "quickstart", "jobs"))

Run = Callable[..., Any]


def clusters(outcome: Any) -> list[dict[str, Any]]:
    assert outcome.code == 0, outcome.stderr
    found: list[dict[str, Any]] = json.loads(outcome.stdout)["clusters"]
    return found


def test_tells_the_bill_with_sources_and_names_what_is_not_known(run: Run) -> None:
    outcome = run("cost", QUICKSTART, "--hours", "24")

    assert outcome.code == 0
    assert "4 x trn2.48xlarge in a Capacity Block" in outcome.stdout
    assert "3,433.04" in outcome.stdout  # 4 x 35.7608 x 24
    assert "capacityblocks/pricing" in outcome.stdout
    assert "2026-07-22" in outcome.stdout
    assert "no dated price for PERSISTENT_2-250 in us-east-2" in outcome.stdout
    assert "not in the sums, because price or quantity is not known" in outcome.stdout


def test_json_has_all_clusters_unless_one_is_named(run: Run) -> None:
    told = clusters(run("cost", TWO_WAVES, "--json"))

    assert [each["cluster"] for each in told] == ["canary", "pretrain", "finetune"]
    (one,) = clusters(run("cost", TWO_WAVES, "--cluster", "finetune", "--json"))
    assert one == told[2]
    assert (one["hours"], one["hours_from"], one["currency"]) == ("730", "a month", "USD")
    assert one["lines"][0]["price"] == ["9.532", "9.532"]
    assert {"name", "what", "quantity", "unit", "price", "source", "dated", "reason", "charged"} < set(
        one["lines"][0]
    )


def test_a_price_that_is_given_is_on_the_bill(run: Run) -> None:
    (told,) = clusters(run("cost", QUICKSTART, "--price", "file system=0.21", "--hours", "73", "--json"))
    (line,) = [each for each in told["lines"] if each["name"] == "file system"]

    assert line["run"]["low"] == "100.800000"  # 4800 x 0.21 / 10
    assert line["source"] == "given by --price"
    assert "file system" not in told["run"]["without"]


def test_compares_with_another_type_by_the_ratio_that_was_given(run: Run) -> None:
    arguments = ("cost", QUICKSTART, "--hours", "300", "--compare", "p5.48xlarge")
    (told,) = clusters(run(*arguments, "--throughput-ratio", "1.5", "--json"))
    shown = run(*arguments, "--throughput-ratio", "1.5", "--tokens-per-second", "1000").stdout
    prices_only = run(*arguments)

    assert (told["rival"]["hours"], told["rival"]["price"]) == ("200.000000", ["41.528", "41.528"])
    assert told["rival"]["run"]["low"].startswith("33222.4")  # 4 x 41.528 x 200
    assert "The same run on p5.48xlarge" in shown
    assert "5.1910" in shown  # a chip and hour
    assert "give --throughput-ratio" in prices_only.stdout


def test_shows_spot_as_a_range(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "spot.yaml"
    text = (ROLLOUTS / "quickstart.yaml").read_text()
    start, end = text.index("          market_type"), text.index("        file_system:")
    job = text.index("        jobs:")
    path.write_text(text[:start] + "          market_type: spot\n" + text[end:job])

    shown = run("cost", str(path), "--hours", "10", "--tokens-per-second", "1000").stdout

    assert "359.60 to 614.80" in shown
    assert "8.99 to 15.37 per instance-hour" in shown


def test_compiling_is_on_the_bill_of_the_small_machine(run: Run) -> None:
    (told,) = clusters(run("cost", JOBS, "--compile-hours", "3", "--fallback-region", "us-east-1", "--json"))

    assert told["lines"][-1]["what"].startswith("3 h on one trn1.2xlarge on demand")
    assert told["lines"][-1]["run"]["low"] == "4.031250"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--hours", "0"], "UC9301: --hours"),
        (["--hours", "-1", "--runs-per-month", "0"], "UC9301: --runs-per-month"),
        (["--hours", "nan"], "UC9301: --hours"),
        (["--stored-gb", "-1"], "UC9301: --stored-gb"),
        (["--compile-reuse", "0"], "UC9301: --compile-reuse"),
        (["--hours", "366", "--runs-per-month", "2"], "UC9302"),
        (["--price", "file system"], "UC9303: --price"),
        (["--price", "file system=cheap"], "UC9303: --price"),
        (["--price", "file system=-1"], "UC9303: --price"),
        (["--price", "file system=nan"], "UC9303: --price"),
        (["--price", "disks=1"], "UC9303: --price: no line of the bill"),
        (["--savings-plan", "10"], "UC9304"),
        (["--throughput-ratio", "2"], "UC9305"),
        (["--compare", "p9.48xlarge"], "UC4001"),
        (["--chart", "cost.pdf"], "UC9306"),
        (["--cluster", "nobody"], "UC2201"),
    ],
)
def test_refuses_plans_that_cannot_be(run: Run, arguments: list[str], said: str) -> None:
    outcome = run("cost", QUICKSTART, *arguments)

    assert outcome.code == 2
    assert said in outcome.stderr
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--hours", "365", "--runs-per-month", "2"],
        ["--hours", "5000"],
        ["--stored-gb", "0", "--metrics", "0"],
        ["--price", "file system=0"],
    ],
)
def test_takes_plans_that_just_can_be(run: Run, arguments: list[str]) -> None:
    assert run("cost", QUICKSTART, *arguments).code == 0


def test_all_wrong_figures_are_told_together(run: Run) -> None:
    outcome = run("cost", QUICKSTART, "--hours", "0", "--savings-plan", "10", "--throughput-ratio", "2")

    assert [line[:6] for line in outcome.stderr.splitlines() if line.startswith("UC")] == [
        "UC9301",
        "UC9305",
        "UC9304",
    ]


@pytest.mark.sweep  # matplotlib takes seconds to import
@pytest.mark.parametrize("name", ["cost.html", "cost.png"])
def test_draws_the_bill(run: Run, tmp_path: Path, name: str) -> None:
    first, second = tmp_path / "1" / name, tmp_path / "2" / name
    for path in (first, second):
        path.parent.mkdir()
        assert run("cost", TWO_WAVES, "--hours", "24", "--chart", str(path)).code == 0

    assert first.read_bytes() == second.read_bytes()
    if name.endswith(".png"):
        assert first.read_bytes().startswith(b"\x89PNG")
        return
    page = first.read_text()
    assert all(f"{cluster} in " in page for cluster in ("canary", "pretrain", "finetune"))
    assert "457.54" in page  # 2 x 9.532 x 24
    assert "without" in page
    assert "<script" not in page
    assert 'src="http' not in page


def test_says_what_to_install_for_a_chart(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)

    outcome = run("cost", QUICKSTART, "--chart", str(tmp_path / "cost.html"))

    assert outcome.code == 2
    assert "UC9306" in outcome.stderr
    assert "ultracluster[plot]" in outcome.stderr
