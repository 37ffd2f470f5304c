"""Bounds from labelled populations: where each lies, why, and the file that remembers it."""

from __future__ import annotations
