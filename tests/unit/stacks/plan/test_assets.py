import json
from pathlib import Path
from typing import Any

from tests.unit.stacks.plan.small_stacks import stack

from ultracluster_stacks.plan import StackTemplate, compare


def test_names_the_files_of_code_that_change(tmp_path: Path) -> None:
    def built(hash_letter: str, **files: str) -> StackTemplate:
        folder = tmp_path / hash_letter
        asset = folder / f"asset.{hash_letter}"
        asset.mkdir(parents=True)
        for name, text in files.items():
            (asset / f"{name}.py").write_text(text)
        listed = {hash_letter * 64: {"source": {"path": asset.name}}}
        (folder / "s.assets.json").write_text(f'{{"files": {str(listed).replace(chr(39), chr(34))}}}')
        function = {
            "Type": "AWS::Lambda::Function",
            "Properties": {"Code": {"S3Key": f"{hash_letter * 64}.zip"}},
        }
        return stack(assembly=folder, F=function)

    old, new, same = built("a", one="1", two="2"), built("b", one="1", two="3"), built("c", one="1", two="2")

    assert compare([old], [new]).stacks[0].changes[0].notes == ("the code changes: two.py",)
    assert compare([old], [same]).stacks[0].changes[0].notes == (
        "only the hash of the code changes: all files are the same",
    )
    unknown = StackTemplate(cluster="c", name="s", region="us-east-2", template=old.template)
    assert compare([unknown], [new]).stacks[0].changes[0].notes == ("the code changes",)


def test_names_ten_files_and_counts_the_others(tmp_path: Path) -> None:
    def built(letter: str, count: int) -> StackTemplate:
        asset = tmp_path / letter / "asset"
        asset.mkdir(parents=True)
        for number in range(count):
            (asset / f"{number:02}.py").write_text(letter)
        listed = json.dumps({"files": {letter * 64: {"source": {"path": "asset"}}}})
        (tmp_path / letter / "s.assets.json").write_text(listed)
        code = {"Type": "AWS::Lambda::Function", "Properties": {"Code": {"S3Key": f"{letter * 64}.zip"}}}
        return stack(assembly=tmp_path / letter, F=code)

    def note(count: int, old: str, new: str) -> str:
        (change,) = compare([built(old, count)], [built(new, count)]).stacks[0].changes
        return change.notes[0]

    ten = ", ".join(f"{number:02}.py" for number in range(10))
    assert note(10, "a", "b") == f"the code changes: {ten}"
    assert note(12, "c", "d") == f"the code changes: {ten} and 2 more"


def test_code_that_is_not_on_this_machine_changes_without_names(tmp_path: Path) -> None:
    (tmp_path / "s.assets.json").write_text(
        json.dumps({"files": {"a" * 64: {}, "b" * 64: {"source": {"path": "gone"}}}})
    )

    def built(code: Any) -> StackTemplate:
        function = {"Type": "AWS::Lambda::Function", "Properties": {"Code": code}}
        return stack(assembly=tmp_path, F=function)

    def notes(old: Any, new: Any) -> tuple[str, ...]:
        return compare([built(old)], [built(new)]).stacks[0].changes[0].notes

    assert notes({"S3Key": "b" * 64}, {"S3Key": "c" * 64}) == ("the code changes",)
    assert notes({"S3Key": "b" * 64}, {"ZipFile": "inline"}) == ()
    assert notes({"ZipFile": "inline"}, {"S3Key": "b" * 64}) == ()
