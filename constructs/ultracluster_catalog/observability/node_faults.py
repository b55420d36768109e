"""Faults of nodes: what is counted, and when a node is to be replaced, by the documents of Neuron."""

from typing import Final

# "Neuron runtime troubleshooting", hardware errors (read 2026-11): the instance is to be replaced after an uncorrectable error of
# SRAM, an unrepairable one of HBM, a DMA abort and a hang on compute. The kernel log has a line NEURON_HW_ERR=... for each, which
# ends with the action that is asked for; a repairable error of HBM asks for another one, and a hang on collectives is often the
# fault of another node. The node problem detector of Neuron and the EKS node monitoring agent match the same lines.
# https://awsdocs-neuron.readthedocs-hosted.com/en/latest/neuron-runtime/nrt-troubleshoot.html
# https://github.com/aws/eks-node-monitoring-agent
HARDWARE_ERROR: Final = "NEURON_HW_ERR"
"""Key of the kind of a fault in the kernel log."""

REPLACE_ACTION: Final = "TERMINATE_INSTANCE"
"""Action in such a line that asks for another instance."""

MEMORY_FAULTS: Final = ("mem_ecc_uncorrected", "sram_ecc_uncorrected")
"""Counters of neuron-monitor, of which one error is too many; of corrected ones there is no documented limit.

https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/neuron-monitor-user-guide.html (read 2026-11).
"""

MISSING_MINUTES: Final = 3
"""Minutes out of five in which devices are missing before a node counts as sick: our decision.

AWS publishes no figure: the agent of HyperPod restarts a node whose count of Neuron devices is wrong, EKS waits ten minutes.
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-health-monitoring-agent.html
https://docs.aws.amazon.com/eks/latest/userguide/node-repair.html (both read 2026-11).
"""

REPLACEMENTS_PER_HOUR: Final = 2
"""Most nodes of a block that are replaced within an hour without a person: our decision. More at once are no coincidence."""
