"""Build one version of the site in a folder of its own: the working tree as `dev`, or the tag of a release.

`python docs/site_build.py [VERSION]` writes `.ultracluster/site/VERSION` and lists all versions that are there in `index.html`, for reading
without JavaScript, and in `versions.js`, from which every page makes its list. Nothing needs a server.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["build", "find_tag", "order_versions", "write_list"]

ROOT: Final = Path(__file__).parents[1]
SITE: Final = ROOT / ".ultracluster/site"
WORKING_TREE: Final = "dev"
_SAY_SECONDS: Final = 5.0
_SOURCES: Final = ("", "constructs", "stacks", "cli", "localaws")

_SCRIPT: Final = """\
"use strict";
// Makes a list of versions from the link of each page. Written by docs/site_build.py, which knows the pages of each version.
const pages = %s;
addEventListener("DOMContentLoaded", () => {
  const link = document.querySelector(".versions > a");
  const list = document.createElement("details");
  list.append(Object.assign(document.createElement("summary"), {textContent: link.textContent}));
  for (const version of Object.keys(pages)) {
    const name = pages[version].includes(page.page) ? page.page : "index.html";
    const item = Object.assign(document.createElement("a"), {href: `${page.root}${version}/${name}`, textContent: version});
    if (version === page.version) item.setAttribute("aria-current", "true");
    list.append(item);
  }
  link.replaceWith(list);
});
"""
_INDEX: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<title>ultracluster: versions of the documentation</title>
<main>
<h1>ultracluster</h1>
<p>Versions of the documentation, newest first:</p>
<ul>
{items}
</ul>
</main>
</html>
"""


def build(version: str = WORKING_TREE, *, site: Path = SITE) -> None:
    """Build a version into its folder of the site, and list it.

    Args:
        version: `dev` for the working tree, or a release such as `0.1.0`, which is read from its Git tag.
        site: Folder with one folder for each version.
    """
    if version == WORKING_TREE:
        _sphinx(ROOT, version, site)
    else:
        tag = find_tag(version)
        with tempfile.TemporaryDirectory() as folder:
            archive, tree = Path(folder, "tag.tar"), Path(folder, "tag")
            subprocess.run(["git", "archive", "--output", str(archive), tag], cwd=ROOT, check=True)
            shutil.unpack_archive(archive, tree)
            _sphinx(tree, version, site)
    write_list(site)


def find_tag(version: str) -> str:
    """Return the Git tag of a release, with or without a `v`; exit with the tags that there are."""
    tags = subprocess.run(
        ["git", "tag"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    for tag in (version, f"v{version}"):
        if tag in tags:
            return tag
    raise SystemExit(f"no Git tag {version} or v{version}; there are: {', '.join(tags) or 'none'}")


def _sphinx(source: Path, version: str, site: Path) -> None:
    output = site / version
    path = [str(source / part) for part in _SOURCES]
    for generated in ("reference/generated", "gallery/generated"):
        shutil.rmtree(source / "docs" / generated, ignore_errors=True)
    shutil.rmtree(output, ignore_errors=True)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    _run([sys.executable, "docs/generated_pages.py"], "Generating pages", source, environment)
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / ".ultracluster/sphinx"), *path])
    flags = [
        "--builder",
        "html",
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        "--define",
        f"release={version}",
    ]
    _run([sys.executable, "-m", "sphinx", *flags, "docs", str(output)], "Sphinx", source, environment)


def _run(command: list[str], what: str, folder: Path, environment: dict[str, str]) -> None:
    """Run a command, and print a line every few seconds, since a silent one looks as if it hung."""
    began = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=environment) as process:
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_SAY_SECONDS)
            sys.stdout.write(f"{what}: {time.monotonic() - began:.0f} s\n")
            sys.stdout.flush()
    if process.returncode:
        raise SystemExit(process.returncode)


def order_versions(versions: list[str]) -> list[str]:
    """Order releases newest first; the working tree comes last, unless it is all that there is."""
    return sorted(
        versions,
        key=lambda version: (
            version != WORKING_TREE,
            *(int(digits) for digits in re.findall(r"\d+", version)),
        ),
        reverse=True,
    )


def write_list(site: Path) -> None:
    """Write the list of the versions that are in the folder of the site."""
    versions = order_versions([folder.parent.name for folder in site.glob("*/index.html")])
    pages = {
        version: sorted(
            path.relative_to(site / version).as_posix()
            for path in (site / version).rglob("*.html")
            if "_static" not in path.parts
        )
        for version in versions
    }
    items = "\n".join(
        f'<li><a href="{html.escape(version)}/index.html">{html.escape(version)}</a></li>'
        for version in versions
    )
    (site / "versions.js").write_text(_SCRIPT % json.dumps(pages), encoding="utf-8")
    (site / "index.html").write_text(
        _INDEX.format(newest=html.escape(versions[0]), items=items), encoding="utf-8"
    )


def main(version: str = WORKING_TREE) -> None:
    """Build a version; that of the working tree is looked at in Chromium, too."""
    build(version)
    if version == WORKING_TREE:
        tests = [sys.executable, "-m", "pytest", "-q", "-m", "site", "tests/site"]
        _run(tests, "Reading every page in Chromium", ROOT, dict(os.environ))


if __name__ == "__main__":
    main(*sys.argv[1:2])
