"""Edits of the valid rollout that suppress warnings."""

THREE_NODES = ("nodes: 4", "nodes: 3")  # UC4103: blocks are usually offered in powers of two
REASON = "the block has three nodes by order december"


def suppress(code: str = "UC4103", reason: str = REASON) -> tuple[str, str]:
    return "        nodes:", f"        suppress: {{{code}: {reason}}}\n        nodes:"
