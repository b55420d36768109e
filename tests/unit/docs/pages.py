"""The pages that people write, and their code blocks."""

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
_BLOCK = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    page: str
    """Without the folder of the documentation, such as ``how-to/install.md``."""
    number: int
    """Among the blocks of its language on its page, from 0."""
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page}:{self.number}"


def code_blocks(*languages: str) -> Iterator[Block]:
    """Yield the blocks of these languages, or of all."""
    for page in PAGES:
        counts: dict[str, int] = {}
        for _, language, text in _BLOCK.findall(page.read_text("utf-8")):
            name = page.relative_to(ROOT).as_posix().removeprefix("docs/")
            if not languages or language in languages:
                yield Block(name, counts.get(language, 0), language, dedent(text))
            counts[language] = counts.get(language, 0) + 1
