"""docs/evidence/scale.md is what `python -m scale --chips 100000` prints in benchmarks/."""

from pathlib import Path

from scale import propose_layout, report_markdown


def test_the_page_is_what_the_script_writes() -> None:
    page = Path(__file__).parents[3] / "docs" / "evidence" / "scale.md"

    assert page.read_text(encoding="utf-8") == report_markdown(propose_layout(100_000))
