"""Reading other people's templates: every form of a function, every line, and nothing that hangs or is read in two ways."""

import json
import os
from pathlib import Path

import pytest
from tests.unit.stacks.check.good_template import GOOD

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.check import read_templates


def refused(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FindingsError) as caught:
        read_templates([path])
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\xff\xfe", "UC9505: it.yaml:1: this is not UTF-8"),
        ("{", "UC9506: it.yaml:1: this is not valid JSON"),
        ('{"Resources": NaN}', "UC9506"),
        ('{"Resources": {}, "Resources": {}}', "UC9506: it.yaml: duplicate key 'Resources'"),
        ("a: [", "UC9506: it.yaml:2: this is not valid YAML"),
        ("a: 1\na: 2", "UC9506: it.yaml:2: duplicate key 'a'"),
        ("a: !!binary aGk=", "UC9506: it.yaml:1: got the tag 'tag:yaml.org,2002:binary'"),
        ("a: !!python/object/apply:os.system [id]", "UC9506"),
        ("a: !<tag:x> 1", "UC9506"),
        ("? [a]\n: 1", "UC9506: it.yaml:1: a key is not a string"),
        ("Resources: {}\n---\nResources: {}", "UC9506: it.yaml:2: the file has several YAML documents"),
        ("a: &a [1]\nb: *a", "UC9507: it.yaml:1: got an anchor or an alias"),
        ("a: {<<: {b: 1}}", "UC9507: it.yaml:1: got the merge key <<"),
        ("[" * 5000, "UC9507: it.yaml:1: nesting deeper than 60"),
        ('{"a": ' * 100 + "1" + "}" * 100, "UC9507: it.yaml: nesting deeper than 60"),
        ('{"a": ' * 100_000, "UC9507: it.yaml: nesting deeper than 60"),
        ("", "UC9508: it.yaml: there are no top-level Resources"),
        ("[1]", "UC9508"),
        ("Resources: [1]", "UC9508"),
    ],
)
def test_what_cannot_be_read_in_one_way_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes, said: str
) -> None:
    monkeypatch.chdir(tmp_path)

    assert refused(Path("it.yaml"), text).startswith(said)


def test_nesting_of_60_is_read(tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    path.write_text("Resources: {}\na: " + "[" * 59 + "]" * 59)

    assert read_templates([path])


def test_json_that_is_no_yaml_is_read_without_lines(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    path.write_text(json.dumps({"Description": "\N{ROCKET}", "Resources": {}}))  # as a pair of surrogates
    (source,) = read_templates([path])

    assert source.body == {"Description": "\N{ROCKET}", "Resources": {}}
    assert dict(source.lines) == {}


def test_a_file_of_a_megabyte_is_read_and_a_larger_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    text = json.dumps(GOOD)
    path.write_text(text + " " * (1_000_000 - len(text)))
    assert read_templates([path])

    assert "UC9505" in refused(path, text + " " * (1_000_001 - len(text)))


def test_500_resources_are_read_and_more_refused(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    bucket = GOOD["Resources"]["Bucket"]
    path.write_text(json.dumps({"Resources": {f"B{n}": bucket for n in range(500)}}))
    assert read_templates([path])

    assert "UC9508" in refused(path, json.dumps({"Resources": {f"B{n}": bucket for n in range(501)}}))


def test_a_path_other_than_a_file_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FindingsError) as caught:
        read_templates([pipe, tmp_path / "nothing", Path("/dev/null"), tmp_path])

    assert [finding.code for finding in caught.value.findings] == ["UC9505", "UC9505", "UC9505", "UC9510"]
