"""Write the tokens of text files to one file for train.py: bytes, or the tokens of a tokenizer.json."""

import argparse
from pathlib import Path

import numpy as np


def main() -> None:
    """Tokenize files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json; needs the package tokenizers")
    options = parser.parse_args()
    tokenizer = None
    if options.tokenizer:
        from tokenizers import Tokenizer  # noqa: PLC0415 - only here

        tokenizer = Tokenizer.from_file(str(options.tokenizer))
    count = 0
    with options.output.open("wb") as output:
        for path in options.texts:
            text = path.read_text(encoding="utf-8", errors="replace")
            tokens = tokenizer.encode(text).ids if tokenizer else list(text.encode())
            np.asarray(tokens, dtype=np.uint32).tofile(output)
            count += len(tokens)
    print(f"{count:,} tokens in {options.output}")


if __name__ == "__main__":
    main()
