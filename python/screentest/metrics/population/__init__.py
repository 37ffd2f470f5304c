"""How two arms of rendered clips differ, over prompts: detail and tone, change over time,
structure, and the distribution of features."""

from __future__ import annotations
