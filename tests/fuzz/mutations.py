"""Rollout files that somebody damaged: by hand, by a tool, or on purpose."""

import re
from collections.abc import Callable, Sequence
from random import Random

__all__ = ["VALUES", "damaged"]

_LINE = re.compile(r"^( *(?:- )?)([a-z_]+):(?: (.*))?$")

VALUES = (
    *("", "~", "null", "no", "on", "true", "-1", "0", "1", "3.5", "[]", "{}", "[[]]", "{a: {b: [1]}}", "'x'", "- x", "? x"),
    *("64", "65", "1000", "1001", str(2**53 - 1), str(2**53), str(2**63), "9" * 5000, "1" + "0" * 400, "-0", "1e5", "010"),
    *(".nan", ".inf", "-.inf", "0x10", "0b1", "1_6", "12:30:00", "2026-12-01", "2026-12-01T11:30:00Z", "+5", "5."),
    *("*a", "&a 1", "&a [*a]", "!!python/object/apply:os.system [id]", "!!binary aGk=", "!x y", "<<", "|", ">-", "%YAML 9"),
    *('"\\0"', '"\\ud800"', '"\\x07"', "\0", "\u202e", "\ufeff", "regi\u043en", "\U0001f4a5", "${HOME}", "$(id)", "`id`"),
    *("../../etc/passwd", "/dev/zero", "file:///etc/passwd", "a/b", "'; DROP TABLE", "us-east-2; rm -rf /", "{{7*7}}"),
    *("AKIAIOSFODNN7EXAMPLE", "-----BEGIN RSA PRIVATE KEY-----", "a" * 5000, "[" * 50, "{" * 50, "---", "..."),
)  # fmt: skip
"""What is put in the place of a value."""

Operation = Callable[[list[str], Sequence[str], Random], list[str]]


def _at(lines: list[str], random: Random) -> int:
    return random.randrange(len(lines))


def _drop(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    first = _at(lines, random)
    return lines[:first] + lines[first + random.choice([1, 1, 1, 3]) :]


def _repeat(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    first = _at(lines, random)
    return lines[: first + 1] + lines[first : first + random.choice([1, 1, 5])] + lines[first + 1 :]


def _swap(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    one, other = _at(lines, random), _at(lines, random)
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def _rename(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    number = _at(lines, random)
    if found := _LINE.match(lines[number]):
        key = found[2]
        letter = random.randrange(len(key))
        name = random.choice(
            [key[:letter] + key[letter + 1 :], key.upper(), key.replace("e", "\u0435", 1), "", *VALUES]
        )
        lines[number] = f"{found[1]}{name}: {found[3] or ''}"
    return lines


def _value(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    number = _at(lines, random)
    if found := _LINE.match(lines[number]):
        lines[number] = f"{found[1]}{found[2]}: {random.choice(VALUES)}"
    return lines


def _boundary(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    numbers = [number for number, line in enumerate(lines) if re.search(r"\d", line)]
    if numbers:
        number = random.choice(numbers)
        by = random.choice([-1, 1, 1000, -(10**6)])
        lines[number] = re.sub(r"\d{1,15}", lambda found: str(int(found[0]) + by), lines[number], count=1)
    return lines


def _character(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    number = _at(lines, random)
    place = random.randrange(len(lines[number]) + 1)
    put = random.choice(
        [*"\0\t:-?,[]{}#&*!|>'\"%@`\\", "\r", "\x85", "\u2028", "\u202e", "\ufeff", "\u043e", ""]
    )
    lines[number] = lines[number][:place] + put + lines[number][place + random.randrange(2) :]
    return lines


def _indent(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    number = _at(lines, random)
    lines[number] = random.choice(["\t", " ", "  ", "- "]) + lines[number]
    return lines


def _nest(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    number = _at(lines, random)
    depth = random.choice([3, 19, 21, 2000])
    lines[number] = (
        lines[number].partition(":")[0] + ": " + "[" * depth + "]" * random.choice([depth, depth - 1])
    )
    return lines


def _indirect(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    number = _at(lines, random)
    name, _colon, value = lines[number].partition(":")
    lines[number] = f"{name}: {random.choice(['&a', '*a', '!!str', '!x', '<<: *a,'])} {value}"
    return lines


def _merge(lines: list[str], others: Sequence[str], random: Random) -> list[str]:
    other = random.choice(others).splitlines()
    first = random.randrange(len(other))
    number = _at(lines, random)
    return lines[:number] + other[first : first + random.choice([1, 10, len(other)])] + lines[number:]


def _truncate(lines: list[str], _: Sequence[str], random: Random) -> list[str]:
    lines = lines[: _at(lines, random) + 1]
    return [*lines[:-1], lines[-1][: random.randrange(len(lines[-1]) + 1)]]


_OPERATIONS: tuple[Operation, ...] = (
    *(_value, _value, _value, _boundary, _boundary, _rename, _rename, _drop, _repeat, _character, _character),
    *(_swap, _indent, _nest, _indirect, _merge, _truncate),
)
_ENCODINGS = (
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-32",
    "latin-1",
    "cp037",
)


def damaged(texts: Sequence[str], random: Random) -> bytes:
    """Damage one of several files.

    Args:
        texts: Valid files, without comments.
        random: What decides; the same one gives the same file.
    """
    lines = random.choice(texts).splitlines()
    for _ in range(random.choice([1, 1, 1, 2, 2, 3, 5])):
        lines = random.choice(_OPERATIONS)(lines, texts, random) or [""]
    text = "\n".join(lines) + random.choice(["\n", "\n", ""])
    if random.random() < 0.03:
        text = text.replace("\n", "\r\n")
    encoding = random.choice(_ENCODINGS)
    content = text.encode(encoding, "surrogatepass" if encoding == "utf-8" else "replace")
    if random.random() < 0.02:
        place = random.randrange(len(content) + 1)
        content = content[:place] + random.randbytes(random.choice([1, 40])) + content[place:]
    return content
