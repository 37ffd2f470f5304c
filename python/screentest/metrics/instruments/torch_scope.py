"""torch as the instruments use it: float32 whatever the caller has set, no gradients, the compute
budget's threads, and everything put back afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from screentest.errors import InputError

__all__ = ["pick_device", "plain_float32"]


def pick_device(name: str) -> Any:
    """torch's device of this name, or one line that says why it is not to be had.

    Raises:
        InputError: it is no device's name.
    """
    import torch

    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(
            f'device={name!r}: expected "cpu", "cuda" or "cuda:N"', code="bad_device", device=name
        ) from error
    try:
        torch.empty(1, device=device)
    except (AssertionError, RuntimeError, NotImplementedError) as error:
        lines = str(error).strip().splitlines()
        return f"device {name} is not available ({lines[0] if lines else 'no reason given'})"
    return device


@contextlib.contextmanager
def plain_float32(device: Any, threads: int) -> Iterator[None]:
    """Work inside is float32 throughout: no autocast, no TF32, the default dtype put aside; no
    gradients are recorded, and at most ``threads`` threads of torch run on the CPU."""
    import torch

    dtype, count = torch.get_default_dtype(), torch.get_num_threads()
    try:
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(min(count, threads))
        with (
            torch.inference_mode(),
            torch.autocast(device.type, enabled=False),
            torch.backends.cudnn.flags(
                enabled=True, benchmark=False, deterministic=True, allow_tf32=False
            ),
            torch.device(device),
        ):
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(count)
