"""Suggest the closest known name, and point out look-alike letters."""

import difflib
import unicodedata
from collections.abc import Iterable


def suggestion(got: str, known: Iterable[str], *, similarity: float = 0.6) -> str:
    """Suggest the closest known name, such as ``Did you mean 'region'?``, and point out a non-ASCII letter."""
    near = difflib.get_close_matches(got[:100].lower().strip(), list(known), n=1, cutoff=similarity)
    meant = f"Did you mean {near[0]!r}?" if near else ""
    foreign = [letter for letter in got if not letter.isascii()]
    if not foreign:
        return meant
    letter = foreign[0]
    name = unicodedata.name(letter, "no name")
    return f"{meant} U+{ord(letter):04X} ({name}) is a non-ASCII letter".strip()
