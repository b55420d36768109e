"""Did you mean: the nearest known name, and the letters in a name that only look like others."""

import difflib
import unicodedata
from collections.abc import Iterable

__all__ = ["suggestion"]


def suggestion(got: str, known: Iterable[str], *, similarity: float = 0.6) -> str:
    """Suggest the known name that was probably meant, and name letters that are not ASCII.

    Args:
        got: The name that was given.
        known: The names there are.
        similarity: How alike the names are, 0 to 1. Default: that of `difflib`.

    Returns:
        A sentence, such as ``Did you mean 'region'?``; empty when there is nothing to say.
    """
    near = difflib.get_close_matches(got[:100].lower().strip(), list(known), n=1, cutoff=similarity)
    meant = f"Did you mean {near[0]!r}?" if near else ""
    foreign = [letter for letter in got if not letter.isascii()]
    if not foreign:
        return meant
    letter = foreign[0]
    name = unicodedata.name(letter, "no name")
    return f"{meant} U+{ord(letter):04X} ({name}) is a non-ASCII letter".strip()
