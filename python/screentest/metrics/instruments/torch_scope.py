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
            _put(_backends()),
            torch.device(device),
        ):
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(count)


def _backends() -> list[tuple[Any, str, Any]]:
    """What the libraries behind torch have to be set to: (place, name, value)."""
    from torch import backends

    cudnn = backends.cudnn
    fixed = [(cudnn, "enabled", True), (cudnn, "benchmark", False), (cudnn, "deterministic", True)]
    if not hasattr(backends, "fp32_precision"):  # torch 2.8
        return [*fixed, (cudnn, "allow_tf32", False), (backends.cuda.matmul, "allow_tf32", False)]
    # An operation takes after its library and a library after torch, unless it was set itself.
    # Down from the top, whatever then reads otherwise was, so that it can be put back as it was;
    # `cudnn.flags` reads only settings made by the older names, and raises on others.
    libraries = (backends, cudnn, backends.mkldnn)
    operations = (
        cudnn.conv,
        cudnn.rnn,
        backends.cuda.matmul,
        backends.mkldnn.conv,
        backends.mkldnn.rnn,
        backends.mkldnn.matmul,
    )
    return fixed + [(place, "fp32_precision", "ieee") for place in (*libraries, *operations)]


@contextlib.contextmanager
def _put(settings: list[tuple[Any, str, Any]]) -> Iterator[None]:
    held = []
    try:
        for place, name, value in settings:
            before = getattr(place, name)
            if before != value:
                setattr(place, name, value)
                held.append((place, name, before))
        yield
    finally:
        for place, name, before in reversed(held):
            setattr(place, name, before)
