import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ultracluster_runtime.preflight import live_facts

ROWS = [
    {
        "id": "L110",
        "title": "?",
        "shown": True,
        "date": "2026-12-01",
        "version": "0.1.0",
        "checks": ["UC9710"],
    },
    {"id": "L83", "title": "?", "shown": False, "date": "2026-12-02", "version": "0.1.0", "checks": []},
]


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    path = tmp_path / "live_facts.json"
    path.write_text(json.dumps(ROWS))
    monkeypatch.setattr(live_facts, "LIVE_FACTS_FILE", path)
    live_facts.live_facts.cache_clear()
    yield
    live_facts.live_facts.cache_clear()


def test_a_check_has_the_answers_that_it_relies_on() -> None:
    assert [str(fact) for fact in live_facts.facts_on("UC9710")] == ["L110 passed on 2026-12-01"]
    assert live_facts.facts_on("UC9401") == []


def test_the_summary_counts_what_was_shown_and_names_what_was_not() -> None:
    assert live_facts.summarize(live_facts.live_facts()) == (
        "live tests passed: 1, last run on 2026-12-02; L83 failed on 2026-12-02"
    )
    assert live_facts.summarize([]) == ""
