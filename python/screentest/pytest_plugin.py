"""A pytest plugin: a test that fails with the defects of a clip as its text.

    def test_render(assert_screens):
        assert_screens("render.mp4", spec={"frames": 121})

Outside pytest's fixtures the same function is imported from here. Loading the plugin imports
nothing but pytest; numpy and the decoder come with the first clip.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from screentest.screening import Screening
    from screentest.verdicts.delivery import DeliveryLike
    from screentest.verdicts.policy import PolicyLike

__all__ = ["assert_screens"]


def assert_screens(
    clip: Any,
    *,
    policy: PolicyLike = None,
    spec: DeliveryLike = None,
    temporal: bool = False,
    **options: Any,
) -> Screening:
    """Screen a clip and raise ``AssertionError`` unless it passes; the screening otherwise.

    ``clip``, ``policy``, ``spec``, ``temporal`` and ``options`` are those of
    :func:`screentest.screen`. A clip that could not be measured fails as well, saying why: it has
    not passed. Flicker, flashes and judder warn, unless a ``temporal_policy`` rejects them.
    """
    __tracebackhide__ = True
    from screentest.screening import screen

    result = screen(clip, policy=policy, spec=spec, temporal=temporal, **options)
    if not result.passed:
        raise AssertionError(str(result))
    return result


@pytest.fixture(name="assert_screens", scope="session")
def _assert_screens_fixture() -> Callable[..., Screening]:
    """The function :func:`screentest.pytest_plugin.assert_screens`."""
    return assert_screens
