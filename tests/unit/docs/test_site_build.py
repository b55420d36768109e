"""The versions of the site are listed newest first, each with its pages."""

import json
import os
import sys
from pathlib import Path

import pytest
import site_build
from site_build import find_tag, order_versions, write_list


def test_releases_come_newest_first_and_the_working_tree_last() -> None:
    assert order_versions(["0.9.0", "dev", "0.10.1", "1.0.0"]) == ["1.0.0", "0.10.1", "0.9.0", "dev"]


def test_every_version_is_listed_with_its_pages(tmp_path: Path) -> None:
    for page in ("dev/index.html", "dev/how-to/new.html", "dev/_static/part.html", "0.1.0/index.html"):
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / page).touch()
    write_list(tmp_path)
    line = next(
        line for line in (tmp_path / "versions.js").read_text().splitlines() if line.startswith("const pages")
    )
    assert json.loads(line.removeprefix("const pages = ").rstrip(";")) == {
        "0.1.0": ["index.html"],
        "dev": ["how-to/new.html", "index.html"],
    }
    assert "0; url=0.1.0/index.html" in (tmp_path / "index.html").read_text()


def test_an_unknown_release_is_refused_in_one_line() -> None:
    with pytest.raises(SystemExit, match=r"^no Git tag 99\.0\.0 or v99\.0\.0; there are: "):
        find_tag("99.0.0")


def test_a_long_step_says_so_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert site_build._SAY_SECONDS < 10
    monkeypatch.setattr(site_build, "_SAY_SECONDS", 0.05)
    program = [sys.executable, "-c", "import time; time.sleep(0.5)"]
    site_build._run(program, "Reading", Path(), dict(os.environ))

    assert capsys.readouterr().out.count("Reading: ") > 4


def test_the_working_tree_is_read_in_chromium_and_a_release_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    monkeypatch.setattr(site_build, "build", steps.append)
    monkeypatch.setattr(site_build, "_run", lambda _, what, *__: steps.append(what))
    site_build.main("0.1.0")
    site_build.main()

    assert steps == ["0.1.0", "dev", "Reading every page in Chromium"]
