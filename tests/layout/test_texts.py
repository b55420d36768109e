"""Nothing of one machine is in any text of the repository."""

import re
from collections.abc import Mapping
from pathlib import Path

# Homes of people; those of the images that our nodes boot from are the same everywhere.
HOME = re.compile(r"(?<![\w.])(?:/Users/(?!me\b)\w|/home/(?!ec2-user\b|ubuntu\b)\w|/root/\.)")


def test_no_file_carries_a_path_of_one_machine(root: Path, texts: Mapping[str, str]) -> None:
    own = [text for text in (f"{root}/", f"{Path.home()}/") if text.count("/") > 2]

    assert len(texts) > 30
    assert {
        name
        for name, text in texts.items()
        if name != "tests/layout/test_texts.py" and (HOME.search(text) or any(path in text for path in own))
    } == set()
