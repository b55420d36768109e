"""Nothing unpinned is installed, nothing runs while it is, and an audit that could not look says so."""

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.security import audit
from tests.security.audit import LICENCES, licences, locked, not_by_hash, vulnerable
from tests.security.nag import Nagged

ROOT = Path(__file__).parents[2]
BAD = ("PyPI", "boto3", "1.0.0")
GOOD = ("npm", "aws-cdk", "2.1148.1")


def test_everything_is_pinned_by_hash_and_nothing_by_address() -> None:
    assert len(locked()) > 100
    assert ("npm", "aws-cdk", "2.1148.1") in locked()
    assert not_by_hash() == []


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("requirements.lock", "annotated-types==", "annotated-types @ git+ssh://host/x#"),
        ("requirements.lock", "    --hash=sha256:", "    --hash=md5:"),
        ("package-lock.json", '"sha512-', '"sha1-'),
        ("pyproject.toml", '"boto3>=1.44"', '"boto3 @ https://example.com/boto3.whl"'),
    ],
)
def test_what_is_not_pinned_is_seen(file: str, old: str, new: str, tmp_path: Path) -> None:
    for name in ("requirements.lock", "package-lock.json", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    path = tmp_path / file
    assert not_by_hash(tmp_path) == []
    path.write_text(path.read_text().replace(old, new))
    assert not_by_hash(tmp_path) != []


def test_licences_of_what_users_install_are_permissive() -> None:
    found = licences()
    assert {"aws-cdk-lib", "boto3", "pydantic"} <= found.keys()
    assert {name: licence for name, licence in found.items() if licence not in LICENCES} == {}


def test_packages_run_nothing_while_they_are_installed() -> None:
    assert "ignore-scripts=true" in (ROOT / ".npmrc").read_text().splitlines()
    assert 'npm" ci --ignore-scripts' in (ROOT / "Makefile").read_text()
    assert "--require-hashes" in (ROOT / "Makefile").read_text()


class _Osv(BaseHTTPRequestHandler):
    """A database in which one package is vulnerable."""

    def do_POST(self) -> None:
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        results: list[dict[str, Any]] = [
            {"vulns": [{"id": "PYSEC-1"}]} if each["version"] == BAD[2] else {} for each in queries
        ]
        body = json.dumps({"results": results[: getattr(self.server, "most", 9)]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def osv() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), _Osv)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_known_vulnerabilities_are_named(osv: HTTPServer) -> None:
    url = f"http://127.0.0.1:{osv.server_port}"
    assert vulnerable([BAD, GOOD], url=url) == {BAD: ["PYSEC-1"]}


def test_a_database_that_answers_less_than_it_was_asked_is_no_answer(osv: HTTPServer) -> None:
    osv.most = 1  # type: ignore[attr-defined]
    with pytest.raises(OSError, match="1 of 2"):
        vulnerable([GOOD, BAD], url=f"http://127.0.0.1:{osv.server_port}")


@pytest.mark.parametrize(("found", "code"), [({}, 0), ({BAD: ["PYSEC-1"]}, 1), (None, 2)])
def test_the_command_fails_on_a_finding_and_when_it_could_not_look(
    found: dict[Any, Any] | None,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ask(_: object) -> dict[Any, Any]:
        if found is None:
            raise OSError("no way out")
        return found

    monkeypatch.setattr(audit, "vulnerable", ask)
    assert audit.main() == code
    assert ("NOT CHECKED" in capsys.readouterr().out) == (found is None)


@pytest.mark.synth
def test_functions_hold_our_files_only(everything: Nagged) -> None:
    held = {
        str(file.relative_to(asset))
        for asset in everything.assembly.rglob("asset.*")
        for file in asset.rglob("*")
        if file.is_file()
    }
    assert len(held) > 10
    assert {name for name in held if not (ROOT / "constructs" / name).is_file()} == set()
