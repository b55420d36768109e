"""Install locked packages with uv, and with pip where uv cannot: `python tests/install.py -r requirements.lock`.

The Makefile calls this with the Python of .venv; it needs the standard library only. uv is installed first, with the version
and hashes of requirements.lock, by the pip of the Python that made .venv, or by ensurepip's, which takes three seconds more.
uv does not read pip's configuration, so what it says of indexes, certificates and proxies is handed on.
"""

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.lock"
# Settings of pip, the variables in which uv takes the same, and what stands between several values.
SETTINGS = (
    ("index-url", "UV_DEFAULT_INDEX", " "),
    ("extra-index-url", "UV_INDEX", " "),
    ("find-links", "UV_FIND_LINKS", ","),
    ("no-index", "UV_NO_INDEX", " "),
    ("trusted-host", "UV_INSECURE_HOST", " "),
    ("timeout", "UV_HTTP_TIMEOUT", " "),
    ("default-timeout", "UV_HTTP_TIMEOUT", " "),
    ("cert", "SSL_CERT_FILE", " "),
    ("proxy", "ALL_PROXY", " "),
)  # fmt: skip


def main(words: list[str]) -> int:
    """Install what the words ask for, as `pip install` does, and return the exit code."""
    python = words.pop(0) if words and Path(words[0]).is_file() else sys.executable
    pip = _pip()
    reason = _install_uv(pip) or _run_uv(pip, python, words)
    if reason is None:
        return 0
    _announce(f"uv cannot install them, so pip does: {reason}")
    return subprocess.run(
        [*pip, "--python", python, "install", "--no-compile", *words], check=False
    ).returncode


def uv_settings(configured: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that tell uv what `pip config list` has printed.

    Args:
        configured: Output of `pip config list`.
        environment: Variables that are set. A variable of uv that the user has set stays.
    """
    said: dict[str, str] = {}
    lines = re.findall(r"^(:env:|global|install)\.([a-z-]+)=(.*)$", configured, re.MULTILINE)
    for _, key, value in sorted(lines, key=lambda line: ("global", "install", ":env:").index(line[0])):
        said[key] = str(ast.literal_eval(value))
    # Every version counts, whichever index has it, as for pip: the hashes say which file is meant.
    wanted = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_SYSTEM_CERTS": "true"}
    for key, variable, between in SETTINGS:
        if said.get(key, "").strip():
            wanted[variable] = between.join(said[key].split())
    return {name: value for name, value in wanted.items() if name not in environment}


def _pip() -> list[str]:
    """Return the command of a pip: of the Python behind this environment, or else of ensurepip, in it."""
    made_by = str(Path(sys.executable).resolve())
    for python in (made_by, sys.executable):
        if subprocess.run([python, "-c", "import pip"], capture_output=True, check=False).returncode == 0:
            return [python, "-m", "pip"]
    subprocess.run([sys.executable, "-m", "ensurepip"], check=True)
    return [sys.executable, "-m", "pip"]


def _install_uv(pip: list[str]) -> str | None:
    """Install the uv of the lock beside this Python, and return why that is not possible."""
    entry = re.search(r"^uv==([^ ]+) \\\n(?: +--hash=.*\n)+", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    if entry is None:
        return "requirements.lock does not name it"
    try:
        if version("uv") == entry[1]:
            return None
    except PackageNotFoundError:
        pass
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "requirements.txt"
        requirements.write_text(entry[0], encoding="utf-8")
        options = ["--no-compile", "--no-deps", "--require-hashes", "--only-binary=:all:"]
        return _run([*pip, "--python", sys.executable, "install", *options, "-r", str(requirements)], {})


def _run_uv(pip: list[str], python: str, words: list[str]) -> str | None:
    configured = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False).stdout
    command = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--python", python, *words]
    return _run(command, uv_settings(configured, os.environ))


def _run(command: list[str], variables: Mapping[str, str]) -> str | None:
    """Run a command, print what it prints, and return the last line of it if it fails."""
    try:
        process = subprocess.run(
            command,
            env={**os.environ, **variables},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError as error:  # for example an executable for another C library
        return str(error)
    sys.stdout.write(process.stdout)
    sys.stdout.flush()
    lines = [line.strip() for line in process.stdout.splitlines() if line.strip()]
    return (lines or [f"exit code {process.returncode}"])[-1] if process.returncode else None


def _announce(text: str) -> None:
    """Print a line to the log, and where the user looks: `make` offers that as file descriptor 3."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
    try:
        os.write(3, f"{text} ... ".encode())
    except OSError:  # started by hand
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
