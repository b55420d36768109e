"""Record the demo at a terminal of 80 columns, for the documentation: `python -m tests.diaries.record`.

It writes an asciicast, which `asciinema play` shows (https://docs.asciinema.org/manual/asciicast/v2/, read 2026-11-23), and
a page with the same as text, because the site is read without JavaScript.
"""

import json
import os
import re
import sys
import time
from itertools import pairwise
from pathlib import Path

from tests.diaries.terminal import COLUMNS, LINES, Terminal, shown

ROOT = Path(__file__).parents[2]
CAST = ROOT / "docs/_static/demo.cast"
PAGE = ROOT / "docs/gallery/demo.md"
ROLLOUT = "stacks/rollouts/quickstart.yaml"
_PAGE = """\
# The demo, recorded

This page shows the output of `make demo` in a terminal of 80 columns. The demo finds, approves and buys a Capacity Block at its list price, deploys four trn2.48xlarge
instances in it, and trains until the block ends and then in an extension. Everything runs on a local AWS on your machine.

{{download}}`Download the recording <../_static/demo.cast>`, and play it with `asciinema play demo.cast`. `python -m tests.diaries.record` writes the recording and this page.

```text
{text}```
"""


def recorded() -> str:
    """Return what the recording has written to the terminal."""
    _, *lines = CAST.read_text(encoding="utf-8").splitlines()
    return "".join(data for _, kind, data in map(json.loads, lines) if kind == "o")


def page(written: str) -> str:
    """Return the page of what was written."""
    return _PAGE.format(text=shown(written))


def commands(text: str) -> list[str]:
    """Return the command lines that the demo shows, without what differs from run to run."""
    found = re.findall(r"^  \$ ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    return [_settled(re.sub(r" \\\n *", " ", line)) for line in found]


def chapters(text: str) -> list[str]:
    """Return the beginnings of chapters."""
    return re.findall(r"^\d/\d .*$", text, re.MULTILINE)


def _settled(line: str) -> str:
    line = re.sub(r"(?<= )\d{4}-\d\d-\d\d", "DATE", line)
    line = re.sub(r"(?<= )cr-[0-9a-f]{17}\b", "cr-ID", line)
    return re.sub(r"(?<=--folder )\S+", "FOLDER", line)


def main() -> int:
    """Run the demo, and write the recording and its page."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = kept | {"TERM": "xterm-256color", "TZ": "UTC", "AWS_EC2_METADATA_DISABLED": "true"}
    began = int(time.time())
    screen = Terminal(ROOT, environment).type("demo", ROLLOUT, seconds=600)
    if screen.code:
        sys.stderr.write(screen.text)
        return screen.code
    # Whoever plays it waits at most a second for a step.
    head = {"version": 2, "width": COLUMNS, "height": LINES, "timestamp": began, "idle_time_limit": 1.0}
    head |= {"title": "make demo", "env": {"TERM": environment["TERM"]}}
    # What a progress line writes again does not change the screen.
    events = [
        [at, "o", data]
        for (_, before), (at, data) in pairwise(((0.0, ""), *screen.events))
        if data not in ("", before)
    ]
    rows = [head, *events]
    CAST.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    PAGE.write_text(page(recorded()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
