"""The rollout file: `load_rollout` reads and checks it."""

from ultracluster_stacks.config.loading.loader import LoadedRollout, load_rollout

__all__ = ["LoadedRollout", "load_rollout"]
