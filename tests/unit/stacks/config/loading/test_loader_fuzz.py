"""Any text is a rollout, or is refused with findings only.

UC_FUZZ_EXAMPLES sets the number of examples; 40 by default, so that the unit tests stay fast.
"""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ultracluster_spec.findings import Finding, FindingsError
from ultracluster_stacks.config import load_rollout

pytestmark = pytest.mark.slow

_QUICKSTART = (Path(__file__).parents[5] / "stacks" / "rollouts" / "quickstart.yaml").read_text()
_LINES = tuple(line for line in _QUICKSTART.splitlines() if not line.startswith("#"))
_LINE = re.compile(r"^( *(?:- )?)([a-z_]+):(?: (.*))?$")
_FINDING = re.compile(r"^UC[0-9]{4}: .+\.$|^UC[0-9]{4}: .+\?$")
_HOSTILE = (
    "", "~", "no", "on", "true", "-1", "0", "1", "3.5", "64", "65", "1000", "1001", str(2**53), str(2**53 - 1), "9" * 5000,
    ".nan", "-.inf", "1e5", "010", "0x10", "12:30:00", "2026-12-01", "[]", "{}", "[[]]", "{a: {b: [1]}}", "'x'", '"\\0"',
    '"\\ud800"', "\0", "\ufeff", "\u202e", "regi\u043en", "*a", "&a 1", "&a [*a]", "!!python/name:os.system", "!!binary aGk=",
    "<<", "${HOME}", "a" * 5000, "[" * 30, "{" * 30, "AKIAIOSFODNN7EXAMPLE", "---", "...", "|", ">-", "? x", "- - x", "%YAML 9.9",
)  # fmt: skip
_number = st.integers(0, len(_LINES) - 1)
_edit = st.one_of(
    st.tuples(st.just("drop"), _number, st.just("")),
    st.tuples(st.just("repeat"), _number, st.just("")),
    st.tuples(st.just("rename"), _number, st.sampled_from(_HOSTILE) | st.text(max_size=8)),
    st.tuples(st.just("value"), _number, st.sampled_from(_HOSTILE) | st.text(max_size=20)),
    st.tuples(st.just("indent"), _number, st.sampled_from(["", " ", "  ", "\t", "- "])),
    st.tuples(st.just("swap"), _number, st.just("")),
)
_SETTINGS = settings(
    max_examples=int(os.environ.get("UC_FUZZ_EXAMPLES", "40")),
    deadline=2000,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def _edited(edits: list[tuple[str, int, str]]) -> str:
    lines = list(_LINES)
    for kind, number, text in edits:
        index = number % len(lines)
        found = _LINE.match(lines[index].partition(" #")[0])
        if kind == "drop" and len(lines) > 1:
            del lines[index]
        elif kind == "repeat":
            lines.insert(index, lines[index])
        elif kind == "indent":
            lines[index] = text + lines[index]
        elif kind == "swap":
            lines[index - 1], lines[index] = lines[index], lines[index - 1]
        elif found and kind == "rename":
            lines[index] = f"{found[1]}{text}: {found[3] or ''}"
        elif found and kind == "value":
            lines[index] = f"{found[1]}{found[2]}: {text}"
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "rollout.yaml"


def _load(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        findings: tuple[Finding | None, ...] = load_rollout(path).warnings
    except FindingsError as error:
        findings = error.findings or (None,)  # an error without findings fails below
    for finding in findings:
        line = str(finding)
        assert _FINDING.match(line), line
        assert line.isascii(), line
        assert line.isprintable(), line
        assert "cannot be used here" not in line  # the words for an error of pydantic without words of ours


@_SETTINGS
@given(edits=st.lists(_edit, min_size=1, max_size=4))
def test_an_edited_rollout_loads_or_is_refused_with_findings(
    path: Path, edits: list[tuple[str, int, str]]
) -> None:
    _load(path, _edited(edits).encode("utf-8", "surrogatepass"))


@_SETTINGS
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_load_or_are_refused_with_findings(path: Path, content: bytes) -> None:
    _load(path, content)


def test_hostile_values_at_each_key_load_or_are_refused_with_findings(path: Path) -> None:
    for number, line in enumerate(_LINES):
        if _LINE.match(line.partition(" #")[0]):
            for value in _HOSTILE if "UC_FUZZ_EXAMPLES" in os.environ else _HOSTILE[number % 4 :: 4]:
                _load(path, _edited([("value", number, value)]).encode("utf-8", "surrogatepass"))
