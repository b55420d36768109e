"""What holds for every test: the house is importable, nothing leaves this machine, what takes minutes runs only when asked for."""

import functools
import gc
import os
import re
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

_ROOT = Path(__file__).parent.parent
_ASKED_FOR = {
    "training": "needs torch and JAX; run with: make training",
    "deep": "takes minutes; run with: make check-deep",
    "site": "reads the built site in Chromium; run with: make docs",
}
_MARKS_OF_A_FILE = re.compile(r"^pytestmark = .*", re.MULTILINE)
_THIS_MACHINE = re.compile(r"(.+\.)?localhost|127(\.\d+){3}|0\.0\.0\.0|::1?")
_LEAVES_OUT = re.compile(r"not \w+( and not \w+)*")
_LONG_FILES: Final = ("tests/integration/", "tests/diaries/")
_FOLDER: Final = re.compile(r"tests/(unit/)?[^/:]+")
_CPU_SECONDS: Final = pytest.StashKey[float]()
_cpu_by_test: Final = Counter[str]()

# Before anything imports aws_cdk, whose own error ("No module named 'constructs._jsii'") would not name the cause.
if (_ROOT / "constructs" / "__init__.py").exists():
    raise pytest.UsageError(
        "constructs/__init__.py exists, so our folder hides the PyPI package `constructs` that aws_cdk imports. "
        "Delete it: constructs/ is a source root (CONTRIBUTING.md, Layout)."
    )


# The CDK's own check of templates takes three times as long as a synthesis. Tests that show what it finds turn it on in a
# process; in this one, the CDK's Node keeps the environment in which the first file imports aws_cdk, be it a conftest.py.
os.environ.setdefault("CDK_VALIDATION", "false")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make test` show what each folder of tests costs."""
    parser.addoption(
        "--cpu", action="store_true", help="print CPU seconds by folder and for the dearest tests"
    )


def pytest_configure() -> None:
    """Close every way out of this machine."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    # As the Makefile says: once unpacked, jsii's packages serve every process of every test. It takes six seconds.
    os.environ.setdefault("JSII_RUNTIME_PACKAGE_CACHE_ROOT", str(_ROOT / ".ultracluster" / "cache" / "jsii"))
    sys.addaudithook(_refuse_look_up)
    # Thousands of small tests make the collector look again and again at what will stay for the whole run.
    gc.set_threshold(100_000, 50, 50)


def pytest_collection_finish() -> None:
    """Save botocore what it does again for each session and each call."""
    if botocore := sys.modules.get("botocore.session"):
        botocore.create_loader = functools.cache(botocore.create_loader)  # reads the description of a service
        # Composing the header takes a quarter of a call that a fake answers.
        botocore.UserAgentString.to_string = lambda _: "tests of ultracluster"
    gc.freeze()  # what is imported and collected stays for the whole run


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import files that `-m "not slow"` leaves out as a whole: aws_cdk and moto take seconds."""
    expression = config.option.markexpr
    if not _LEAVES_OUT.fullmatch(expression):
        return None
    left_out = set(expression.split()) - {"not", "and"}
    files = collection_path.rglob("test_*.py") if collection_path.is_dir() else [collection_path]
    return all(_marks(file) & left_out for file in files) or None


def _marks(file: Path) -> set[str]:
    found = _MARKS_OF_A_FILE.search(file.read_text(encoding="utf-8"))
    return set(re.findall(r"pytest\.mark\.(\w+)", found[0])) if found else set()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs a training framework, a browser or minutes, unless exactly that was asked for, and begin with long files."""
    # A worker takes a whole file: one of half a minute that comes last would keep the others waiting.
    items.sort(key=lambda item: not item.nodeid.startswith(_LONG_FILES))
    for mark, reason in _ASKED_FOR.items():
        if config.option.markexpr != mark:
            for item in items:
                if item.get_closest_marker(mark):
                    item.add_marker(pytest.mark.skip(reason=reason))


def _refuse_look_up(event: str, arguments: tuple[Any, ...]) -> None:
    # pytest-socket refuses connections, but would first look up the name on a server elsewhere, and only guards what runs
    # inside a test. An audit hook also runs while the interpreter shuts down, so it uses nothing but its arguments.
    if event != "socket.getaddrinfo" or not arguments[0]:
        return
    host = arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0]
    if not _THIS_MACHINE.fullmatch(host):
        raise ConnectionRefusedError(f"a test tried to look up {host}; tests use the local AWS only")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note what this process has used before a test, with fixtures of its file and folder."""
    item.stash[_CPU_SECONDS] = _cpu_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report what a test has used, with processes that it started and waited for."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append(("cpu", _cpu_seconds() - item.stash.get(_CPU_SECONDS, _cpu_seconds())))
    return report


def _cpu_seconds() -> float:
    """Return what this process, the processes that it waited for and, on Linux, its running children have used."""
    running = 0
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread has just ended
            for child in children.read_text().split():
                with suppress(OSError):  # the process has
                    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                    running += sum(map(int, fields[11:15]))
    return sum(os.times()[:4]) + running / os.sysconf("SC_CLK_TCK")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what tests report; with xdist, in the process that shares them out."""
    if report.when == "teardown":
        _cpu_by_test[report.nodeid] += dict(report.user_properties).get("cpu", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the folders and the tests that cost most."""
    if not config.option.cpu:
        return
    folders = Counter[str]()
    for test, seconds in _cpu_by_test.items():
        folders[_FOLDER.match(test)[0]] += seconds  # type: ignore[index] - every test is in one
    terminalreporter.section("CPU seconds of tests, by folder")
    for folder, seconds in folders.most_common():
        terminalreporter.write_line(f"{seconds:8.1f}  {folder}")
    terminalreporter.write_line(
        f"{folders.total():8.1f}  all tests; {_cpu_seconds():.1f} with collection, in all processes"
    )
    terminalreporter.section("dearest tests")
    for test, seconds in _cpu_by_test.most_common(20):
        terminalreporter.write_line(f"{seconds:8.1f}  {test}")
