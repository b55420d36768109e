"""What docs/evidence/scale.md says is what `python -m scale --chips 100000` prints in benchmarks/."""

from pathlib import Path

from scale import propose_layout, report_markdown


def test_the_page_says_only_what_the_script_prints() -> None:
    page = (Path(__file__).parents[3] / "docs" / "evidence" / "scale.md").read_text("utf-8")
    title, _, rest = page.partition("\n")
    _, _, shown = rest.partition("The layout has")
    printed = report_markdown(propose_layout(100_000)).splitlines()

    assert title == printed[0]
    lines = f"The layout has{shown}".splitlines()
    assert [line for line in lines if line not in printed] == []
    assert sum(line.startswith("| ") for line in lines) > 3
