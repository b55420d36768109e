"""`make env` installs with uv, as pip is set up, and with pip where uv cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.install import uv_settings

CONFIGURED = """\
:env:.cert='/etc/company.pem'
:env:.index-url='https://env.example.com/simple'
global.index-url='https://global.example.com/simple'
install.extra-index-url='https://one.example.com\\nhttps://two.example.com'
global.extra-index-url='https://never.example.com'
global.find-links='/wheels /more'
global.proxy=''
freeze.timeout='9'
"""


def test_uv_is_told_what_pip_is_set_up_to_do() -> None:
    assert uv_settings(CONFIGURED, {}) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_SYSTEM_CERTS": "true",
        "UV_DEFAULT_INDEX": "https://env.example.com/simple",
        "UV_INDEX": "https://one.example.com https://two.example.com",
        "UV_FIND_LINKS": "/wheels,/more",
        "SSL_CERT_FILE": "/etc/company.pem",
    }


def test_what_the_user_has_told_uv_stays() -> None:
    assert "UV_DEFAULT_INDEX" not in uv_settings(CONFIGURED, {"UV_DEFAULT_INDEX": "https://mine.example.com"})


@pytest.mark.slow
def test_pip_installs_where_uv_cannot_and_the_reason_is_shown(root: Path, tmp_path: Path) -> None:
    _package(tmp_path / "package")
    command = [sys.executable, root / "tests/install.py", "--no-deps", "--no-build-isolation"]
    command += ["--target", tmp_path / "site", tmp_path / "package"]
    without_uv = {**os.environ, "UV_CACHE_DIR": "/dev/null/cache", "PIP_NO_INDEX": "1"}

    outcome = subprocess.run(command, env=without_uv, capture_output=True, text=True, check=False)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "uv cannot install them, so pip does: " in outcome.stdout
    assert "/dev/null/cache" in outcome.stdout
    assert (tmp_path / "site" / "hello.py").is_file()


@pytest.mark.slow
def test_what_neither_can_install_is_a_failure(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, root / "tests/install.py", "--target", tmp_path, tmp_path / "nothing"]

    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def _package(folder: Path) -> None:
    folder.mkdir()
    (folder / "hello.py").write_text("")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "hello"\nversion = "1"\n'
    )
