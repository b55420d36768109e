"""Dated facts about Trainium machines and the services around them. Standard library only.

Every public name can be imported from here or from its module. Here, modules are loaded when a name is first asked
for, so that somebody who needs only `findings` does not pay for all tables. A new module needs one line here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracluster_catalog.addresses import *
    from ultracluster_catalog.alarms import *
    from ultracluster_catalog.budgets import *
    from ultracluster_catalog.capacity_blocks import *
    from ultracluster_catalog.cluster_subnet import *
    from ultracluster_catalog.cluster_tag import *
    from ultracluster_catalog.compile_machines import *
    from ultracluster_catalog.compiler_flags import *
    from ultracluster_catalog.credentials import *
    from ultracluster_catalog.findings import *
    from ultracluster_catalog.given_files import *
    from ultracluster_catalog.identifiers import *
    from ultracluster_catalog.instance_type import *
    from ultracluster_catalog.instance_types import *
    from ultracluster_catalog.lustre import *
    from ultracluster_catalog.lustre_associations import *
    from ultracluster_catalog.lustre_checks import *
    from ultracluster_catalog.lustre_figures import *
    from ultracluster_catalog.lustre_tiers import *
    from ultracluster_catalog.metrics import *
    from ultracluster_catalog.neuron import *
    from ultracluster_catalog.neuron_containers import *
    from ultracluster_catalog.neuron_images import *
    from ultracluster_catalog.neuron_settings import *
    from ultracluster_catalog.nic_layouts import *
    from ultracluster_catalog.panels import *
    from ultracluster_catalog.peak_flops import *
    from ultracluster_catalog.plain_numbers import *
    from ultracluster_catalog.priced_things import *
    from ultracluster_catalog.prices import *
    from ultracluster_catalog.queues import *
    from ultracluster_catalog.quotas import *
    from ultracluster_catalog.rule_notes import *
    from ultracluster_catalog.rules import *
    from ultracluster_catalog.sagemaker import *
    from ultracluster_catalog.scratch import *
    from ultracluster_catalog.service_limits import *
    from ultracluster_catalog.service_prices import *
    from ultracluster_catalog.service_quotas import *
    from ultracluster_catalog.submission_tags import *
    from ultracluster_catalog.ultraservers import *
    from ultracluster_catalog.zones import *
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
