"""Every rule of ours: its stable code and what it protects. A code is never reused.

UC1 file and YAML, UC2 identity and names, UC3 network, UC4 compute and capacity, UC5 storage,
UC6 jobs and queues, UC7 buying capacity, UC8 local AWS, UC9 tools around us.
"""

from dataclasses import dataclass
from typing import Literal

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        summary: What holds when the rule is kept, in one sentence.
        severity: ``error`` stops the work; ``warning`` is shown.
    """

    summary: str
    severity: Literal["error", "warning"] = "error"


RULES: dict[str, Rule] = {
    # UC1: file and YAML
    # UC2: identity and names
    # UC3: network
    # UC4: compute and capacity
    # UC5: storage
    # UC6: jobs and queues
    # UC7: buying capacity
    # UC8: local AWS
    # UC9: tools around us
}
