"""Files that are no rollout at all, or hold YAML that could be read in two ways."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.unit.stacks.config.reading.refusals import refusal

from ultracluster_stacks.config.reading import yaml_source
from ultracluster_stacks.config.reading.source_file import LARGEST_FILE
from ultracluster_stacks.config.reading.yaml_source import DEEPEST_NESTING, UNREADABLE, YamlSource, read_yaml

Write = Callable[[str | bytes], Path]


@pytest.fixture(params=["libyaml", "python"])
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parsers of PyYAML: a wheel has libyaml, a build from source may not."""
    loader = yaml.CSafeLoader if request.param == "libyaml" else yaml.SafeLoader
    monkeypatch.setattr(yaml_source, "_LOADER", loader)


def _lines(source: YamlSource) -> list[str]:
    return [str(source.locate(problem)).replace(f"{source.name}:", "", 1) for problem in source.problems]


@pytest.mark.usefixtures("_parser")
@pytest.mark.parametrize(
    ("content", "code", "part"),
    [
        ("", "UC1006", "got nothing at the top"),
        ("# only a comment\n", "UC1006", "got nothing at the top"),
        ("- 1\n", "UC1006", "got a list at the top"),
        ("text\n", "UC1006", "got 'text' at the top"),
        ("# x\n--- &top\na: 1\n", "UC1008", "rollout.yaml:2: got an anchor, 'top'"),
        ("!!map\na: 1\n", "UC1009", "rollout.yaml:1: got the tag"),
        ("a: 1\n---\nb: 2\n", "UC1006", "rollout.yaml:2: the file has several YAML documents"),
        ("a:\n\tb: 1\n", "UC1005", "rollout.yaml:2: this is not valid YAML"),
        ("a:\n\tb: 1\n", "UC1005", "Indent with spaces, not tabs"),
        ("a: @team\n", "UC1005", "such as @ or % in quotes"),
        ('a: "C:\\data"\n', "UC1005", "Write text with backslashes in single quotes"),
        ("a: b: 1\n", "UC1005", "write text with a colon and a space in quotes"),
        ("a: [1\n", "UC1005", "this is not valid YAML"),
        ("a: 'x\n", "UC1005", "this is not valid YAML"),
        (
            "a: 1\nb: \x00\n",
            "UC1004",
            "rollout.yaml:2: invisible character U+0000 in column 4",
        ),
        ("a: \x1b[31m\n", "UC1004", "U+001B"),
        ("# \u202e comment\n", "UC1004", "U+202E"),
        ("a: zero\u200bwidth\n", "UC1004", "U+200B"),
        (b"a: 1\nb: \xff\n", "UC1003", "rollout.yaml:2: byte 9 is not valid UTF-8"),
        ("a: 1\n".encode("utf-16"), "UC1003", "byte 1 is not valid UTF-8"),
        ("a: " + "[" * 2000, "UC1007", "nesting deeper than 20"),
        ("a: " + "{x: " * 2000, "UC1007", "nesting deeper than 20"),
        ("? " * 200, "UC1007", "nesting deeper than 20"),
        ("#" * (LARGEST_FILE + 1), "UC1002", "larger than 256 KiB"),
    ],
)
def test_refuses_a_file_without_a_rollout(write: Write, content: str | bytes, code: str, part: str) -> None:
    message = refusal(write(content))

    assert message.startswith(f"{code}: rollout.yaml")
    assert part in message


def test_takes_the_deepest_nesting_and_refuses_the_next(write: Write) -> None:
    deepest = "a: " + "[" * (DEEPEST_NESTING - 1) + "1" + "]" * (DEEPEST_NESTING - 1)

    assert not read_yaml(write(deepest)).problems
    assert "UC1007" in refusal(write(deepest.replace("1", "[1]")))


def test_takes_windows_line_ends(write: Write) -> None:
    source = read_yaml(write("a: 1\r\nb: x\r\n"))

    assert source.values == {"a": 1, "b": "x"}
    assert source.place(("b",))[1] == 2


@pytest.mark.usefixtures("_parser")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x 1", "UC1008: 1: a: got an anchor, 'x'"),
        ("a: 1\nb: *x", "UC1008: 2: b: got an alias, 'x'"),
        (
            "a: !!python/object/apply:os.system [id]",
            "UC1009: 1: a: got the tag 'tag:yaml.org,2002:python/object",
        ),
        ("a: !!binary aGk=", "UC1009: 1: a: got the tag 'tag:yaml.org,2002:binary'"),
        ("a: !!str 1", "UC1009: 1: a: got the tag"),
        ("<<: {b: 1}", "UC1010: 1: got the merge key <<"),
        ("1: x", "UC1011: 1: the unquoted key '1' is not a string"),
        ("true: x", "UC1011: 1: the unquoted key 'true' is not a string"),
        ("null: x", "UC1011: 1: the unquoted key 'null' is not a string"),
        ("on: x", "UC1011: 1: the unquoted key 'on' is not a string"),
        ("? [a]\n: x", "UC1011: 1: a key is a mapping, a list or an alias"),
        ("a: 1\nb: 2\na: 3", "UC1012: 3: a: duplicate key 'a', in lines 1 and 3"),
        ('a: "\\u202e"', "UC1004: 1: a: got the invisible character U+202E"),
        ('"\\0": 1', "UC1004: 1: got the invisible character U+0000"),
        ("a: AKIAIOSFODNN7EXAMPLE", "UC2108: 1: a: this looks like an AWS access key id"),
        ("ghp_" + "a" * 36 + ": 1", "UC2108: 1: this looks like a GitHub token"),
        ("a: ${HOME}/x", "UC1017: 1: a: got '${HOME}/x', which is not expanded"),
        ("a: /x:$PATH", "UC1017: 1: a: got '/x:$PATH', which is not expanded"),
    ],
)
def test_reports_yaml_that_can_be_misread(write: Write, text: str, expected: str) -> None:
    lines = _lines(read_yaml(write(text)))

    assert len(lines) == 1
    assert lines[0].startswith(expected)


def test_a_value_with_a_problem_reads_as_unreadable_and_the_others_as_they_are(write: Write) -> None:
    source = read_yaml(write("a: &x {b: 1}\nc: [no, 2, !!str 3]\nd: 4\nd: 5\n"))

    assert source.values == {"a": UNREADABLE, "c": (UNREADABLE, 2, UNREADABLE), "d": 4}


def test_an_alias_bomb_is_reported_without_being_built(write: Write) -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))

    source = read_yaml(write("a0: &a0 x\n" + levels))

    assert set(source.values.values()) == {UNREADABLE}
    assert {problem.finding.code for problem in source.problems} == {"UC1008"}


def test_a_recursive_alias_is_reported(write: Write) -> None:
    assert [problem.finding.code for problem in read_yaml(write("a: &a {b: *a}")).problems] == [
        "UC1008",
        "UC1008",
    ]


def test_knows_the_line_of_each_value_and_of_what_is_missing(write: Write) -> None:
    source = read_yaml(write("a:\n  b:\n    - x\n    - c: |\n        text\n"))

    assert source.place(("a", "b"))[1] == 2
    assert source.place(("a", "b", 0))[1] == 3
    assert source.place(("a", "b", 1, "c"))[1] == 4
    assert source.place(("a", "b", 1, "missing", "deeper"))[1] == 4
    assert source.place(("elsewhere",))[1] == 1


def test_a_command_may_hold_a_variable_for_its_shell(write: Write) -> None:
    assert not read_yaml(write("command: [bash, -c, 'echo ${HOME}']")).problems
