"""Settings of other tools, read once and on request: what of them becomes ours, and what does not."""

from hindbrain.generic._config._imports._plan import (
    Change,
    Plan,
    global_sources,
    plan,
    project_sources,
    read_source,
)

__all__ = ["Change", "Plan", "global_sources", "plan", "project_sources", "read_source"]
