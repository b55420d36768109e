"""Parse and merge flags of the Neuron compiler, as in NEURON_CC_FLAGS.

Source: Neuron Compiler CLI Reference Guide of SDK 2.32 (2026-08-21), where a value follows its flag after a space or
an equals sign, and the right-most of two conflicting flags silently wins.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

INTEGER_DEFAULTS: Final[Mapping[str, tuple[str, str]]] = {
    "--native-int64": ("disabled", "enabled"),
    "--implicit-integer-downcast": ("all", "none"),
}
"""Default of SDK 2.32, and the one that its notes announce for the next release, by flag; whether 2.33 has it was not read.

https://awsdocs-neuron.readthedocs-hosted.com/en/v2.32.0/release-notes/components/compiler.html, 2026-08-17. The new defaults
refuse integer operations that the old ones lower to FP32 or 32 bits.
"""

# A word of a command line; quotes keep the spaces of a value such as --tensorizer-options='--a --b' together.
_WORD = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+|['"]""")
_SHORT_LEVEL = re.compile(r"-O([0-9])")

_SPELLINGS = {"--lnc": "--logical-nc-config", "-lnc": "--logical-nc-config", "-O": "--optlevel"}


@dataclass(frozen=True, kw_only=True, slots=True)
class CompilerFlag:
    """One flag with its value.

    Attributes:
        name: Long name, such as ``--optlevel``; a pair of enabling and disabling flags has one name.
        value: Value; ``enable`` or ``disable`` for such a pair, empty for a flag without a value.
        text: Flag as written.
    """

    name: str
    value: str
    text: str


def split_compiler_flags(text: str) -> tuple[CompilerFlag, ...]:
    """Split NEURON_CC_FLAGS into flags. Words before the first flag count as a flag without a name."""
    groups: list[list[str]] = []
    for word in _WORD.findall(text):
        if word.startswith("-") or not groups:
            groups.append([word])
        else:
            groups[-1].append(word)
    return tuple(_flag(group) for group in groups)


def _flag(words: Sequence[str]) -> CompilerFlag:
    text = " ".join(words)
    if short := _SHORT_LEVEL.fullmatch(words[0]):
        return CompilerFlag(name="--optlevel", value=short[1], text=text)
    name, _, value = words[0].partition("=")
    name = _SPELLINGS.get(name, name)
    value = " ".join(part for part in (value, *words[1:]) if part)
    for polarity in ("enable", "disable"):
        if name.startswith(f"--{polarity}-"):
            return CompilerFlag(
                name=f"--enable-{name.removeprefix(f'--{polarity}-')}", value=polarity, text=text
            )
    return CompilerFlag(name=name, value=value, text=text)


def merge_compiler_flags(sources: Iterable[str]) -> str:
    """Merge flags of several sources into one text, each flag with its value once; repetitions within a source stay."""
    merged: list[str] = []
    seen: set[tuple[str, str]] = set()
    for source in sources:
        flags = split_compiler_flags(source)
        new = [flag for flag in flags if (flag.name, flag.value) not in seen]
        # The text is unchanged if nothing is omitted, to preserve whitespace inside quotes.
        text = source if len(new) == len(flags) else " ".join(flag.text for flag in new)
        if text:
            merged.append(text)
        seen |= {(flag.name, flag.value) for flag in flags}
    return " ".join(merged)
