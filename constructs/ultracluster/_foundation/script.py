"""Scripts that run on nodes and in jobs."""

import re
from importlib import resources


def read_script(name: str) -> str:
    """Return a file of ``scripts`` as it is."""
    return resources.files("ultracluster").joinpath("scripts", name).read_text(encoding="ascii")


def lean_script(name: str) -> str:
    """Return a Python file of ``scripts`` without comments and docstrings, indented by single spaces: every byte counts."""
    source = re.sub(r'^ *"""[^"]*"""\n', "", read_script(name), flags=re.MULTILINE)
    code = re.sub(r"  # .*$", "", source, flags=re.MULTILINE).splitlines()
    return "".join(
        " " * ((len(line) - len(line.lstrip())) // 4) + line.lstrip() + "\n"
        for line in code
        if line.strip() and not line.lstrip().startswith("# ")
    )
