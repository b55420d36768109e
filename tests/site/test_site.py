"""The built site in a browser: pages load, searches answer, axe-core finds nothing serious, and reading needs no script.

`make docs` builds the site and axe-core and runs these tests; ULTRACLUSTER_SITE names another folder of one built version.
"""

import http.server
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from site_build import write_list

pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("ULTRACLUSTER_SITE", ROOT / ".ultracluster/site/dev"))
AXE = Path(os.environ.get("ULTRACLUSTER_AXE", ROOT / ".ultracluster/sphinx/node_modules/axe-core/axe.min.js"))
SCREENSHOTS = ROOT / ".ultracluster/site-screenshots"
QUESTIONS = yaml.safe_load((ROOT / "docs/questions.yaml").read_text("utf-8"))
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
FLAGS = ["--headless=new", "--no-sandbox", "--no-zygote", "--disable-gpu", "--enable-logging=stderr"]
DARK = "--blink-settings=preferredColorScheme=0"
WIDTHS = [1280, 390]
PAGES = sorted(
    path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if "_static" not in path.parts
)
KINDS = [
    "index.html",
    "tutorials/first-cluster.html",
    "how-to/buy-a-block.html",
    "runbook/job-runnable.html",
    "concepts/storage.html",
    "reference/security.html",
    "reference/generated/api/ultracluster.UltraCluster.html",
    "reference/generated/commands.html",
    "reference/generated/rollout-file.html",
    "reference/generated/rules.html",
    "gallery/examples.html",
    "evidence/performance.html",
    "decisions/0025-sphinx-for-the-site.html",
    "search.html",
    "genindex.html",
]
"""A page of each form."""

Report = list[dict[str, Any]]


class Server(http.server.ThreadingHTTPServer):
    """Serves the site and the files of the harness, and takes its report."""

    def __init__(self, site: Path, **listing: Any) -> None:
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(site)))
        self.own = {
            "/harness.html": (Path(__file__).with_name("harness.html").read_bytes(), "text/html"),
            "/axe.js": (AXE.read_bytes(), "text/javascript"),
            "/list.json": (json.dumps(listing).encode(), "application/json"),
            "/favicon.ico": (b"", "image/x-icon"),
        }
        self.reported = threading.Event()
        self.report: Report = []


class Handler(http.server.SimpleHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self.path not in self.server.own:
            super().do_GET()
            return
        body, kind = self.server.own[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.server.report = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.reported.set()

    def log_message(self, *arguments: object) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built version as `dev`, beside a release that has two of its pages."""
    assert PAGES, "run make docs"
    assert BROWSER, "needs Chromium: apt-get install chromium"
    site = tmp_path_factory.mktemp("versions")
    (site / "dev").symlink_to(SITE)
    for page in ("index.html", "tutorials/first-cluster.html"):
        (site / "0.1.0" / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SITE / page, site / "0.1.0" / page)
    write_list(site)
    return site


def browse(site: Path, folder: Path, *flags: str, **listing: Any) -> tuple[Report, str]:
    """What the harness reports of each page and search, and what the console says."""
    assert BROWSER
    with Server(site, folder="dev", **listing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        log = folder / "log"
        with log.open("w") as output:
            address = f"http://127.0.0.1:{server.server_address[1]}/harness.html"
            browser = subprocess.Popen(
                [BROWSER, *FLAGS, *flags, f"--user-data-dir={folder}/profile", address],
                stderr=output,
                stdout=subprocess.DEVNULL,
            )
            try:
                assert server.reported.wait(900)
            finally:
                browser.terminate()
                browser.wait(30)
                server.shutdown()
    lines = [line for line in log.read_text().splitlines() if "CONSOLE" in line]
    # A frame without scripts says so of each script.
    return server.report, "\n".join(line for line in lines if "Blocked script execution" not in line)


@pytest.fixture(scope="module")
def browsed(versions: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, str]:
    searches = [each["search"] for each in QUESTIONS]
    folder = tmp_path_factory.mktemp("browser")
    return browse(versions, folder, pages=PAGES, searches=searches, widths=WIDTHS)


@pytest.fixture(scope="module")
def pages(browsed: tuple[Report, str]) -> dict[str, dict[str, Any]]:
    return {entry["page"]: entry for entry in browsed[0] if "page" in entry}


@pytest.fixture(scope="module")
def dark(versions: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("dark")
    return browse(versions, folder, DARK, pages=KINDS, searches=[], widths=WIDTHS[:1])[0]


def test_every_page_loads_from_a_server_without_an_error(
    browsed: tuple[Report, str], pages: dict[str, dict[str, Any]]
) -> None:
    assert [page for page, entry in pages.items() if entry["title"]] == PAGES
    assert browsed[1] == ""


def found_by_axe(report: Iterator[dict[str, Any]]) -> list[str]:
    return [f"{entry['page']}: {text}" for entry in report for text in entry["found"]]


def test_axe_finds_nothing_serious_at_either_width(pages: dict[str, dict[str, Any]]) -> None:
    assert found_by_axe(iter(pages.values())) == []


def test_no_page_is_wider_than_a_telephone(pages: dict[str, dict[str, Any]]) -> None:
    assert {page: entry["overflow"] for page, entry in pages.items() if entry["overflow"] > 0} == {}


def test_pages_follow_the_dark_mode_of_the_system_and_stay_readable(
    pages: dict[str, dict[str, Any]], dark: Report
) -> None:
    assert {brightness(pages[entry["page"]]["ground"]) > 200 for entry in dark} == {True}
    assert {brightness(entry["ground"]) < 60 for entry in dark} == {True}
    assert found_by_axe(iter(dark)) == []


def brightness(color: str) -> float:
    red, green, blue = (int(digits) for digits in re.findall(r"\d+", color)[:3])
    return 0.3 * red + 0.6 * green + 0.1 * blue


def test_reading_needs_no_script(pages: dict[str, dict[str, Any]]) -> None:
    """Without scripts the text of a page, the links beside it and the way to other versions are there."""
    for page, entry in pages.items():
        if page == "search.html":  # searching is what needs a script
            continue
        assert entry["still"]["words"] >= 0.98 * entry["words"], page
        assert entry["still"]["links"] >= 7, page  # the parts of the site
        assert entry["still"]["versions"] == [f"{up(page)}index.html"], page


def test_every_page_leads_to_itself_in_other_versions_or_to_their_start(
    pages: dict[str, dict[str, Any]],
) -> None:
    for page, entry in pages.items():
        old = page if page in {"index.html", "tutorials/first-cluster.html"} else "index.html"
        assert entry["versions"] == [f"{up(page)}0.1.0/{old}", f"{up(page)}dev/{page}"]


def up(page: str) -> str:
    """The way from a page to the folder of all versions."""
    return "../" * (page.count("/") + 1)


def test_the_search_finds_the_answer_in_its_first_three_hits(browsed: tuple[Report, str]) -> None:
    hits = {entry["search"]: entry["hits"] for entry in browsed[0] if "search" in entry}
    missed = {
        each["search"]: hits[each["search"]]
        for each in QUESTIONS
        if f"{each['page']}.html" not in hits[each["search"]]
    }
    assert missed == {}


def dumped(page: Path, profile: Path, *flags: str) -> tuple[str, list[str]]:
    """A page of the file system as the browser has it in the end, and what the console says."""
    assert BROWSER
    done = subprocess.run(
        [BROWSER, *FLAGS, *flags, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_every_page_loads_from_the_file_system_without_an_error(versions: Path, tmp_path: Path) -> None:
    frames = "\n".join(
        f'<iframe src="{(versions / "dev" / page).as_uri()}" onload="document.title = ++window.loaded"></iframe>'
        for page in PAGES
    )
    harness = tmp_path / "all.html"
    harness.write_text(f"<!doctype html><script>window.loaded = 0</script>{frames}", encoding="utf-8")
    document, console = dumped(harness, tmp_path / "profile", "--virtual-time-budget=60000")
    assert f"<title>{len(PAGES)}</title>" in document
    assert console == []


def test_the_switcher_and_the_list_of_versions_work_from_the_file_system(
    versions: Path, tmp_path: Path
) -> None:
    document, _ = dumped(versions / "dev/how-to/install.html", tmp_path / "page")
    switcher = document.partition('class="versions"')[2].partition("</div>")[0]
    for target in re.findall(r'href="([^"]+)"', switcher):
        assert Path(os.path.normpath(versions / "dev/how-to" / target)).is_file()
    assert re.findall(r">([\w.]+)</a>", switcher) == ["0.1.0", "dev"]
    listed = re.findall(r'<a href="([^"]+)"', (versions / "index.html").read_text("utf-8"))
    assert listed == ["0.1.0/index.html", "dev/index.html"]


def test_the_search_works_from_the_file_system(versions: Path, tmp_path: Path) -> None:
    address = tmp_path / "search.html"
    target = (versions / "dev/search.html").as_uri()
    address.write_text(f"<script>location.href = '{target}?q=job+stuck'</script>", encoding="utf-8")
    document, _ = dumped(address, tmp_path / "profile", "--virtual-time-budget=20000")
    assert "runbook/job-runnable.html" in document.partition('class="search"')[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_form_of_page_has_a_screenshot(width: int, scheme: str, versions: Path, tmp_path: Path) -> None:
    """For the eye: .ultracluster/site-screenshots. The test only knows that a page is there and not blank."""
    assert BROWSER
    SCREENSHOTS.mkdir(exist_ok=True)
    # A window of Chromium is never narrower than 500 pixels; a frame is.
    for page in KINDS:
        frame = tmp_path / "frame.html"
        source = (versions / "dev" / page).as_uri()
        frame.write_text(
            f'<style>body{{margin:0}}</style><iframe src="{source}" style="border:0;width:{width}px;height:900px"></iframe>',
            encoding="utf-8",
        )
        picture = SCREENSHOTS / f"{page.removesuffix('.html').replace('/', '-')}-{width}-{scheme}.png"
        picture.unlink(missing_ok=True)
        window = ["--hide-scrollbars", f"--window-size={max(width, 500)},900", f"--screenshot={picture}"]
        profile = f"--user-data-dir={tmp_path}/profile"
        subprocess.run(
            [BROWSER, *FLAGS, *([DARK] if scheme == "dark" else []), *window, profile, frame.as_uri()],
            capture_output=True,
            timeout=120,
            check=True,
        )
        assert picture.stat().st_size > 5_000, page
