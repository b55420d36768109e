"""The pages that people write, and code blocks: theirs, and those of CONTRIBUTING.md and of the local AWS."""

import doctest
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "generated"),
]
_WITH_BLOCKS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "localaws/README.md"]
_SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_STEP = re.compile(r"^\$ (.*?)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_BLOCK = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    page: str
    """Path from ``docs``, such as ``how-to/install.md``, or from the repository."""
    number: int
    """Among the blocks of its language on its page, from 0."""
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page}:{self.number}"

    @property
    def in_tutorial(self) -> bool:
        """Whether readers run its page from the beginning to the end."""
        return self.page == "README.md" or self.page.startswith("tutorials/")

    @property
    def shows_output(self) -> bool:
        """Whether its commands are behind a ``$``, each before what it prints."""
        return self.text.startswith("$ ")

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Each command behind a ``$`` and the output that it shows; else all commands, without an output."""
        return _STEP.findall(self.text) if self.shows_output else [(self.text, "")]


def code_blocks(*languages: str) -> Iterator[Block]:
    """Yield the blocks of these languages, or of all."""
    for page in _WITH_BLOCKS:
        counts: dict[str, int] = {}
        for _, language, text in _BLOCK.findall(page.read_text("utf-8")):
            name = page.relative_to(ROOT).as_posix().removeprefix("docs/")
            if not languages or language in languages:
                yield Block(name, counts.get(language, 0), language, dedent(text))
            counts[language] = counts.get(language, 0) + 1


def is_shown(output: str, shown: str) -> bool:
    """Return whether a page shows this output. A ``...`` there stands for times, ids and what depends on the machine."""
    return not shown or doctest.OutputChecker().check_output(shown, output, _SHOWN)
