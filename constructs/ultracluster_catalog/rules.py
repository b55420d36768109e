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
    "UC4001": Rule("An instance type is one that the catalogue knows."),
    "UC4002": Rule("A layout of network interfaces is one of the named ones."),
    "UC4010": Rule("The primary interface is on network card 0, device index 0, and has an IP address."),
    "UC4011": Rule("A network interface is on a network card that the instance type has."),
    "UC4012": Rule("A device index is below the number of interfaces that its network card takes."),
    "UC4013": Rule("Two network interfaces never share a network card and device index."),
    "UC4014": Rule("A network card carries one EFA or EFA-only interface at most."),
    "UC4015": Rule("An EFA or EFA-only interface is on a network card that supports EFA."),
    "UC4016": Rule("Every EFA interface of an instance type is used.", "warning"),
    # UC5: storage
    # UC6: jobs and queues
    # UC7: buying capacity
    # UC8: local AWS
    # UC9: tools around us
}
