"""The examples of README.md do what it says."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.bare_environment import bare_environment

from ultracluster_stacks.config import load_rollout

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_every_rollout_is_valid(tmp_path: Path) -> None:
    assert blocks("yaml")
    for text in blocks("yaml"):
        path = tmp_path / "rollout.yaml"
        path.write_text(text)
        assert load_rollout(path).warnings == ()


@pytest.mark.synth
def test_every_app_synthesizes(tmp_path: Path) -> None:
    assert blocks("python")
    for text in blocks("python"):
        done = subprocess.run(
            [sys.executable, "-c", text],
            env=bare_environment(CDK_OUTDIR=str(tmp_path / "cdk.out"), CDK_VALIDATION="false"),
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "AWS::Batch::ComputeEnvironment" in (tmp_path / "cdk.out/Training.template.json").read_text()


# `make docs` writes these and checks their links.
GENERATED = {ROOT / "docs/reference/generated", ROOT / "docs/gallery/generated"}


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        if not GENERATED.intersection(page.parents)
    ],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, _, heading in (one.partition("#") for one in re.findall(r"\]\(([^)]+)\)", page.read_text())):
        if target.startswith("https://"):
            continue
        there = page.parent / target if target else page
        if there.resolve().parent in GENERATED:
            continue
        assert there.exists(), target
        assert not heading or heading in _anchors(there), f"{target}#{heading}"


@cache
def _anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return anchors | set(re.findall(r'<a (?:id|name)="([^"]+)"', page.read_text()))
