"""A folder of predictions with everything that a sample may have, and its ground truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluations.making import Folders, two_groups


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """The two groups of :func:`two_groups`, made anew for each test."""
    return two_groups(tmp_path)
