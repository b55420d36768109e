"""Each code is stated in one module, which has its record, and a test names each that no example shows."""

import re
from collections import Counter
from pathlib import Path

from tests.rule_examples import EXAMPLES

from ultracluster_cli.records import ALL_RECORDS

CODE = re.compile(r"\bUC\d{4}\b")
STATED = re.compile(r'"(UC\d{4})"')
RECORDED = re.compile(r'RuleRecord\(\s*"(UC\d{4})"')
SOURCE_ROOTS = ("constructs", "stacks", "cli", "localaws/ultracluster_local")
TABLE_OF_EXIT_CODES = "cli/ultracluster_cli/exit_codes.py"
RECORDS_OF_OTHERS = {
    "constructs/ultracluster_spec/construct_records.py": (
        "constructs/ultracluster/",
        "stacks/ultracluster_stacks/synthesis/app.py",
    ),
    "cli/ultracluster_cli/local/local_aws_records.py": ("localaws/",),
}
"""Tables of modules that commands cannot import: they need the CDK, or are another distribution."""


def _modules(root: Path) -> dict[str, str]:
    paths = [path for folder in SOURCE_ROOTS for path in (root / folder).rglob("*.py")]
    texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in paths}
    texts.pop(TABLE_OF_EXIT_CODES)
    return texts


def _stated(text: str) -> set[str]:
    return set(STATED.findall(RECORDED.sub("", text)))


def test_a_code_is_stated_in_one_module(root: Path) -> None:
    counted = Counter(code for text in _modules(root).values() for code in _stated(text))

    assert [code for code, places in counted.items() if places > 1] == []


def test_a_record_stands_in_the_module_that_states_its_code_and_is_listed(root: Path) -> None:
    texts = _modules(root)
    recorded = [(code, path) for path, text in texts.items() for code in RECORDED.findall(text)]
    places = {code: path for path, text in texts.items() for code in _stated(text)}
    away = [
        (code, path)
        for code, path in recorded
        if not places[code].startswith(RECORDS_OF_OTHERS.get(path, (path,)))
    ]

    assert away == []
    assert places.keys() <= ALL_RECORDS.keys()
    assert sorted(code for code, _ in recorded) == list(ALL_RECORDS)


def test_a_test_names_each_code_that_no_example_shows(root: Path) -> None:
    folders = ("tests/unit", "tests/integration", "localaws/tests")
    tests = [path for folder in folders for path in (root / folder).rglob("*.py")]
    named = {code for path in tests for code in CODE.findall(path.read_text("utf-8"))}
    executed = {code for examples in EXAMPLES.values() for code in examples}

    assert sorted(ALL_RECORDS.keys() - named - executed) == []
