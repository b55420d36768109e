"""The bill of a rollout, as tables and as JSON."""

import json
import re
from decimal import Decimal
from pathlib import Path

from tests.unit.cli.conftest import Run
from tests.unit.cli.cost.cost_answers import QUICKSTART, TWO_WAVES, clusters


def test_shows_the_estimate_with_sources_and_unknown_prices(run: Run) -> None:
    outcome = run("cost", QUICKSTART, "--hours", "24")

    assert outcome.code == 0
    assert "4 x trn2.48xlarge in a Capacity Block" in outcome.stdout
    assert "3,433.04" in outcome.stdout  # 4 x 35.7608 x 24
    assert "capacityblocks/pricing" in outcome.stdout
    assert "2026-07-22" in outcome.stdout
    assert "≈ 1.97" in outcome.stdout  # 4 x 375 x 0.04 / 730 x 24
    assert "price of us-east-1, as that of us-east-2 is not known" in outcome.stdout
    assert "not known  " not in outcome.stdout
    assert "not included, by use: see --help: buckets, endpoint data, logs" in outcome.stdout


def test_json_has_all_clusters_unless_one_is_named(run: Run) -> None:
    told = clusters(run("cost", TWO_WAVES, "--json"))

    assert [each["cluster"] for each in told] == ["canary", "pretrain", "finetune"]
    (one,) = clusters(run("cost", TWO_WAVES, "--cluster", "finetune", "--json"))
    assert one == told[2]
    assert (one["hours"], one["hours_from"], one["currency"]) == (
        "24",
        "a day, as the block's hours are not known",
        "USD",
    )
    assert one["lines"][0]["price"] == ["9.532", "9.532"]
    assert {"name", "what", "quantity", "unit", "price", "source", "dated", "reason", "charged"} < set(
        one["lines"][0]
    )


def test_many_clusters_have_a_line_each_and_a_grand_total(run: Run) -> None:
    shown = run("cost", TWO_WAVES).stdout
    total = json.loads(run("cost", TWO_WAVES, "--json").stdout)["total"]

    assert "All clusters, USD" in shown
    assert "finetune in ap-southeast-4" in shown.rpartition("All clusters, USD")[2]
    assert f"≈ {Decimal(total['run']['low']):,.2f}" in shown.rpartition("All clusters, USD")[2]
    assert "All clusters" not in run("cost", QUICKSTART).stdout


class Reservations:
    """Another reservation each time, as clusters do not share one."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, _: object) -> str:
        self.number += 1
        return f"cr-{self.number:017x}"


def test_more_than_three_clusters_are_a_line_each_at_80_columns(run: Run, tmp_path: Path) -> None:
    text = Path(TWO_WAVES).read_text()
    start = text.index("      - name: pretrain")
    more = "".join(
        text[start:].replace("name: pretrain", f"name: more-{n}").replace("name: finetune", f"name: tune-{n}")
        for n in range(10)
    )
    (tmp_path / "many.yaml").write_text(re.sub(r"cr-[0-9a-f]{17}", Reservations(), text + more))
    shown = run("cost", str(tmp_path / "many.yaml"), "--hours", "336").stdout.splitlines()

    assert len(shown) == 27  # title, heading, rule, 23 clusters, total
    assert max(map(len, shown)) <= 80
    assert shown[-1].startswith("total")


def test_compares_with_another_type_by_the_throughput_ratio(run: Run) -> None:
    arguments = ("cost", QUICKSTART, "--hours", "300", "--compare", "p5.48xlarge")
    (told,) = clusters(run(*arguments, "--throughput-ratio", "1.5", "--json"))
    shown = run(*arguments, "--throughput-ratio", "1.5", "--tokens-per-second", "1000").stdout
    prices_only = run(*arguments)

    assert (told["alternative"]["hours"], told["alternative"]["price"]) == (
        "200.000000",
        ["41.528", "41.528"],
    )
    assert told["alternative"]["run"]["low"].startswith("33553.8")  # 4 x 41.528 x 200, and what is not nodes
    assert "The same run on p5.48xlarge" in shown
    assert "5.1910" in shown  # a chip and hour
    assert "specify a measured --throughput-ratio" in prices_only.stdout
