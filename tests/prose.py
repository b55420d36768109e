"""`make prose SEED=N` prints a random sample of what people read in the product, for reading it sentence by sentence."""

import argparse
import ast
import random
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.figures import Module, product_modules

__all__ = ["Sentence", "comments", "docstrings", "messages", "sentences"]

Sentence = tuple[int, str]
"""Line, and what stands there."""

_MESSAGE_KEYWORDS: Final = {"problem", "allowed", "remedy", "help"}
_DIRECTIVES: Final = ("!", " fmt:", " noqa", " type:", " pragma")
_SIZES: Final = {"docstrings": 60, "comments": 40, "messages": 40, "sentences": 60}


def docstrings(module: Module) -> Iterator[Sentence]:
    """Yield the first line of each docstring of a module.

    Args:
        module: The module.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield node.body[0].lineno, text.splitlines()[0]


def comments(module: Module) -> Iterator[Sentence]:
    """Yield each comment of a module, those of successive lines as one, without directives to tools.

    Args:
        module: The module.
    """
    begin, lines, last = 0, list[str](), 0
    with module.path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type != tokenize.COMMENT or token.string[1:].startswith(_DIRECTIVES):
                continue
            alone = token.line.lstrip().startswith("#")
            if lines and (not alone or token.start[0] != last + 1):
                yield begin, " ".join(lines)
                lines = []
            begin = begin if lines else token.start[0]
            lines.append(token.string.lstrip("#: "))
            last = token.start[0] if alone else 0
    if lines:
        yield begin, " ".join(lines)


def messages(module: Module) -> Iterator[Sentence]:
    """Yield the texts of findings, of command-line help and of exceptions that a module raises.

    Args:
        module: The module.
    """
    for node in ast.walk(module.tree):
        texts: list[ast.expr] = []
        if isinstance(node, ast.Call):
            texts = [keyword.value for keyword in node.keywords if keyword.arg in _MESSAGE_KEYWORDS]
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            texts = node.exc.args
        elif (
            isinstance(node, ast.Assign)
            and {target.id for target in node.targets if isinstance(target, ast.Name)} & _MESSAGE_KEYWORDS
        ):
            texts = [node.value]
        for text in texts:
            if isinstance(text, ast.JoinedStr) or (
                isinstance(text, ast.Constant) and isinstance(text.value, str)
            ):
                yield text.lineno, _text(text)


def sentences(page: Path) -> Iterator[Sentence]:
    """Yield each sentence of a page outside of code, headings and links of a table of contents.

    Args:
        page: A Markdown file.
    """
    text = re.sub(
        r"^ *```.*?^ *```$", _blank, page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for paragraph in re.finditer(r"(?:^(?![#|\s]).+\n|^ +\S.*\n)+|^\|.*\n", text, re.MULTILINE):
        line = text.count("\n", 0, paragraph.start()) + 1
        for part in re.split(r"(?<=[.?!:])\s+(?=[`*\[A-Z])|\s\|\s|\n[-*] |\n\d\. ", paragraph[0]):
            if len(part.split()) > 4:  # a cell of a table may be one word
                yield line, part.strip("|-* \n")


def _blank(block: re.Match[str]) -> str:
    return "\n" * block[0].count("\n")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="the same seed gives the same sample")
    chosen = random.Random(parser.parse_args().seed)  # noqa: S311 - a sample, no secret
    modules = product_modules(Path())
    for what, find in {"docstrings": docstrings, "comments": comments, "messages": messages}.items():
        everything = [
            f"{module.path.as_posix()}:{line}: {' '.join(text.split())}"
            for module in modules
            for line, text in find(module)
        ]
        sample = sorted(chosen.sample(everything, min(_SIZES[what], len(everything))))
        sys.stdout.write(f"{len(sample)} of {len(everything):,} {what}\n\n" + "\n".join(sample) + "\n\n")
    pages = [Path("README.md"), *Path("docs").rglob("*.md")]
    everything = [
        f"{page.as_posix()}:{line}: {' '.join(text.split())}"
        for page in sorted(pages)
        if not {"generated", "evidence", "decisions"}.intersection(page.parts)
        for line, text in sentences(page)
    ]
    sample = sorted(chosen.sample(everything, _SIZES["sentences"]))
    sys.stdout.write(
        f"{len(sample)} of {len(everything):,} sentences of pages\n\n" + "\n".join(sample) + "\n"
    )


if __name__ == "__main__":
    _main()
