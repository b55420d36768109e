"""Dated facts about Trainium machines and the services around them. Standard library only.

Every public name can be imported from here or from its module. Here, modules are loaded when a name is first asked
for, so that somebody who needs only `findings` does not pay for all tables. A new module needs one line here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracluster_catalog.capacity.capacity_blocks import *
    from ultracluster_catalog.limits.budgets import *
    from ultracluster_catalog.limits.queues import *
    from ultracluster_catalog.limits.quotas import *
    from ultracluster_catalog.limits.sagemaker import *
    from ultracluster_catalog.limits.service_limits import *
    from ultracluster_catalog.limits.service_quotas import *
    from ultracluster_catalog.lustre.lustre import *
    from ultracluster_catalog.lustre.lustre_associations import *
    from ultracluster_catalog.lustre.lustre_figures import *
    from ultracluster_catalog.lustre.lustre_tiers import *
    from ultracluster_catalog.machines.instance_type import *
    from ultracluster_catalog.machines.instance_types import *
    from ultracluster_catalog.machines.nic_layouts import *
    from ultracluster_catalog.machines.peak_flops import *
    from ultracluster_catalog.machines.scratch import *
    from ultracluster_catalog.machines.ultraservers import *
    from ultracluster_catalog.names.cluster_tag import *
    from ultracluster_catalog.names.identifiers import *
    from ultracluster_catalog.names.submission_tags import *
    from ultracluster_catalog.neuron.compile_machines import *
    from ultracluster_catalog.neuron.compiler_flags import *
    from ultracluster_catalog.neuron.neuron import *
    from ultracluster_catalog.neuron.neuron_containers import *
    from ultracluster_catalog.neuron.neuron_images import *
    from ultracluster_catalog.neuron.neuron_settings import *
    from ultracluster_catalog.observability.alarms import *
    from ultracluster_catalog.observability.metrics import *
    from ultracluster_catalog.observability.panels import *
    from ultracluster_catalog.places.addresses import *
    from ultracluster_catalog.places.cluster_subnet import *
    from ultracluster_catalog.places.zones import *
    from ultracluster_catalog.prices.billable_items import *
    from ultracluster_catalog.prices.prices import *
    from ultracluster_catalog.prices.service_prices import *
    from ultracluster_rules.credentials import *
    from ultracluster_rules.findings import *
    from ultracluster_rules.lustre_checks import *
    from ultracluster_rules.plain_numbers import *
    from ultracluster_rules.rule_notes import *
    from ultracluster_rules.rules import *
    from ultracluster_rules.untrusted_files import *
else:

    def __getattr__(name: str) -> object:
        import pkgutil  # noqa: PLC0415 - every import of a module of ours would pay for it

        modules = [each.name for each in pkgutil.iter_modules(__path__)]
        loaded = (import_module(f"{__name__}.{each}") for each in modules)
        if name == "__all__":
            return sorted(each for module in loaded for each in module.__all__)
        # To look for a module, or for what only Python asks for, is no reason to load all tables.
        if not name.startswith("_") and name not in modules:
            for module in loaded:
                if name in module.__all__:
                    return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*globals(), *__getattr__("__all__")]
