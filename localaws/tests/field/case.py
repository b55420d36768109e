"""Cases of what AWS was seen to do: folders cases/SERVICE/SLUG with case.toml and files, and the tables of blind rounds in rounds."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

__all__ = ["CASES", "ROUNDS", "Case", "cases", "load", "load_round"]

CASES: Final = Path(__file__).with_name("cases")
ROUNDS: Final = Path(__file__).with_name("rounds")

_FILES: Final = {
    "calls": "calls.py",
    "template": "template.yaml",
    "template_2": "template_2.yaml",
    "good": "good.yaml",
}

EXPECTATIONS: Final = frozenset(
    {
        "accepted",
        "calls_accepted",
        "calls_refused",
        "create_refused",
        "delete_refused",
        "none",
        "silent",
        "update_in_place",
        "update_refused",
        "update_replaces",
    }
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One observation of AWS, and how to repeat it.

    Attributes:
        folder: Folder with ``template.yaml``, ``template_2.yaml``, ``good.yaml`` and ``calls.py``, as far as they are needed.
        id: Number of the case.
        service: Service that answered.
        kind: ``refusal``, ``acceptance``, ``update``, ``delete``, ``timing`` or ``silent`` (accepted, and fails later).
        condition: What was done.
        quote: What AWS answered or says.
        url: Where it was seen.
        date: When it was written, or the year in which it was read.
        confidence: ``high`` if AWS answered so to somebody or says so itself; ``medium`` or ``low`` otherwise.
        evidence: How the source was read.
        expect: What the local AWS must do; ``none`` if it cannot be simulated.
        matches: Regular expression that AWS's message matches.
        code: AWS's error code, for calls.
        resource: Logical ID whose replacement is observed.
        before: Python expression that prepares the local AWS; with the prefix ``AFTER`` it runs after the deployment.
        preamble: Names of files of the service's folder, ``function`` for function.py, that run before ``calls.py``.
        note: A remark; for ``none``, why it cannot be simulated.
        files: Texts of its files by name, of a case in the table of a round.
        first_try: Whether the local AWS agreed before anything was mended; of a case in a round.
    """

    folder: Path
    id: str
    service: str
    kind: str
    condition: str
    quote: str
    url: str
    date: str
    confidence: str
    expect: str
    evidence: str = ""
    matches: str = ""
    code: str = ""
    resource: str = ""
    before: str = ""
    preamble: Sequence[str] = ()
    note: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    first_try: bool | None = None

    @property
    def name(self) -> str:
        """Service and slug."""
        return f"{self.service}/{self.folder.name}"

    def text(self, name: str) -> str:
        """Return the text of a file of the case."""
        return self.files[name] if name in self.files else (self.folder / name).read_text("utf-8")

    def has(self, name: str) -> bool:
        """Return whether the case has the file `name`."""
        return name in self.files or (self.folder / name).exists()


def load(folder: Path) -> Case:
    """Read the case in `folder`.

    Raises:
        ValueError: If it is not in the form of a case.
    """
    return _read(folder, tomllib.loads((folder / "case.toml").read_text("utf-8")))


def load_round(path: Path) -> list[Case]:
    """Read the cases of a blind round: tables ``[SERVICE.SLUG]`` whose keys ``calls`` and ``template`` are their files.

    Without `expect`, AWS refuses the last call.

    Raises:
        ValueError: If one is not in the form of a case.
    """
    found = []
    for service, table in tomllib.loads(path.read_text("utf-8")).items():
        for slug, given in table.items():
            expect = given.get("expect", "calls_refused")
            kind = "refusal" if expect.endswith("refused") else "acceptance"
            values = {"kind": kind, "expect": expect, "confidence": "high", **given}
            files = {name: values.pop(key) for key, name in _FILES.items() if key in values}
            found.append(_read(CASES / service / slug, {"service": service, "files": files, **values}))
    return found


def _read(folder: Path, values: Mapping[str, Any]) -> Case:
    try:
        case = Case(folder=folder, **values)
    except TypeError as error:
        raise ValueError(f"{folder.parent.name}/{folder.name}: {error}") from None
    if case.expect not in EXPECTATIONS:
        raise ValueError(f"{case.name}: unknown expectation {case.expect!r}")
    if case.service != folder.parent.name:
        raise ValueError(f"{case.name}: lies in the folder of {folder.parent.name}")
    if case.expect.endswith("_refused") and not case.matches:
        raise ValueError(f"{case.name}: a refusal needs the words of AWS's message in `matches`")
    if case.expect == "none" and not case.note:
        raise ValueError(f"{case.name}: say in `note` why it cannot be simulated")
    re.compile(case.matches)
    return case


def cases(root: Path = CASES) -> list[Case]:
    """Return all cases below `root`, by ID, and those of the rounds if they are ours."""
    found = [load(path.parent) for path in root.glob("*/*/case.toml")]
    if root == CASES:
        found += [case for path in sorted(ROUNDS.glob("*.toml")) for case in load_round(path)]
    return sorted(found, key=lambda case: (int(case.id), case.name))
