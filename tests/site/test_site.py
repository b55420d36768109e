"""The built site in a browser: every page loads, the search finds what readers look for, and axe-core finds nothing serious.

`make docs` builds the site and axe-core and runs these tests; ULTRACLUSTER_SITE names another folder of a built site.
"""

import http.server
import json
import os
import shutil
import subprocess
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("ULTRACLUSTER_SITE", ROOT / ".ultracluster/site"))
AXE = Path(os.environ.get("ULTRACLUSTER_AXE", ROOT / ".ultracluster/sphinx/node_modules/axe-core/axe.min.js"))
QUESTIONS = yaml.safe_load((ROOT / "docs/questions.yaml").read_text("utf-8"))
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
FLAGS = ["--headless=new", "--no-sandbox", "--no-zygote", "--disable-gpu", "--enable-logging=stderr"]
PAGES = sorted(
    path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if "_static" not in path.parts
)
WRITTEN = [page for page in PAGES if "generated/api/" not in page]
"""Pages that people write, and one page of each generated kind: all pages of constructs have the same form."""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site, and the files and the report of the harness."""

    listing: bytes = b""
    report: Any = None
    reported = threading.Event()

    def do_GET(self) -> None:
        own = {
            "/harness.html": (Path(__file__).with_name("harness.html").read_bytes(), "text/html"),
            "/axe.js": (AXE.read_bytes(), "text/javascript"),
            "/list.json": (self.listing, "application/json"),
            "/favicon.ico": (b"", "image/x-icon"),
        }
        if self.path not in own:
            super().do_GET()
            return
        body, kind = own[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        Handler.report = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.reported.set()

    def log_message(self, *arguments: object) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def browsed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], str]:
    """What the harness reports about each page and search, and what the console says."""
    assert PAGES, "run make docs"
    assert BROWSER, "needs Chromium: apt-get install chromium"
    folder = tmp_path_factory.mktemp("browser")
    searches = [each["search"] for each in QUESTIONS]
    sample = [page for page in WRITTEN if page != "search.html"]
    Handler.listing = json.dumps({"pages": PAGES, "searches": searches, "axe": sample}).encode()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        log = folder / "log"
        with log.open("w") as output:
            browser = subprocess.Popen(
                [
                    BROWSER,
                    *FLAGS,
                    f"--user-data-dir={folder}/profile",
                    f"http://127.0.0.1:{server.server_address[1]}/harness.html",
                ],
                stderr=output,
                stdout=subprocess.DEVNULL,
            )
            try:
                assert Handler.reported.wait(600)
            finally:
                browser.terminate()
                browser.wait(30)
                server.shutdown()
    return Handler.report, "\n".join(line for line in log.read_text().splitlines() if "CONSOLE" in line)


def test_every_page_loads_from_a_server_without_an_error(browsed: tuple[list[dict[str, Any]], str]) -> None:
    report, console = browsed
    assert [entry["page"] for entry in report if entry.get("title")] == PAGES
    assert console == ""


def test_axe_finds_nothing_serious(browsed: tuple[list[dict[str, Any]], str]) -> None:
    found = {f"{entry['page']}: {text}" for entry in browsed[0] for text in entry.get("found", ())}
    assert found == set()


def test_no_page_is_wider_than_a_telephone(browsed: tuple[list[dict[str, Any]], str]) -> None:
    assert {entry["page"]: entry["overflow"] for entry in browsed[0] if entry.get("overflow", 0) > 0} == {}


def test_the_search_finds_the_answer_in_its_first_three_hits(
    browsed: tuple[list[dict[str, Any]], str],
) -> None:
    hits = {entry["search"]: entry["hits"] for entry in browsed[0] if "search" in entry}
    missed = {
        each["search"]: hits[each["search"]]
        for each in QUESTIONS
        if f"{each['page']}.html" not in hits[each["search"]]
    }
    assert missed == {}


def test_every_page_loads_from_the_file_system_without_an_error(tmp_path: Path) -> None:
    assert BROWSER
    frames = "\n".join(
        f'<iframe src="{(SITE / page).as_uri()}" onload="document.title = ++window.loaded"></iframe>'
        for page in PAGES
    )
    harness = tmp_path / "all.html"
    harness.write_text(f"<!doctype html><script>window.loaded = 0</script>{frames}", encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER,
            *FLAGS,
            f"--user-data-dir={tmp_path}/profile",
            "--virtual-time-budget=60000",
            "--dump-dom",
            harness.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert f"<title>{len(PAGES)}</title>" in done.stdout
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
