"""The chart of a bill."""

from pathlib import Path

import pytest
from tests.unit.cli.cost.cost_answers import QUICKSTART, TWO_WAVES, Run


@pytest.mark.sweep  # matplotlib takes seconds to import
@pytest.mark.parametrize("name", ["cost.html", "cost.png"])
def test_draws_the_bill(run: Run, tmp_path: Path, name: str) -> None:
    first, second = tmp_path / "1" / name, tmp_path / "2" / name
    for path in (first, second):
        path.parent.mkdir()
        assert run("cost", TWO_WAVES, "--hours", "24", "--picture", str(path)).code == 0

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


def test_reports_what_to_install_for_a_chart(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)

    outcome = run("cost", QUICKSTART, "--picture", str(tmp_path / "cost.html"))

    assert outcome.code == 2
    assert "UC9209" in outcome.stderr
    assert "ultracluster[plot]" in outcome.stderr
