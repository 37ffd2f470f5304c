"""Every made clip measured once: takes without and with each damage."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from calibration.gates import arms, material
from screentest.gates.scoring import score_arm
from screentest.metrics.population.facts import ArmClip

__all__ = ["DAMAGED", "LATER", "NULL", "SEEN", "STILL_DAMAGE", "made", "real", "scored"]

NULL = "another take"
LATER = "a sixth of a second later"
DAMAGED = (
    *(arm.name for arm in arms.ARMS),
    *(f"slowed {share:g}" for share in arms.SLOWED),
)
STILL_DAMAGE = tuple(
    arm.name for arm in arms.ARMS if arm.kind in ("blur", "desaturation", "pixel noise", "grid")
)
"""Those that a still can have."""

SEEN = 1
"""The take that is damaged. Takes 0 and 2 are the references that it is held against."""


def scored(frames) -> ArmClip:
    return score_arm([frames], threads=1, frame_rate=24.0)[0]


def _of_prompt(prompt: int) -> list[tuple[str, int, ArmClip, ArmClip | None]]:
    """(arm, take, the clip's record, its middle picture's) of one prompt."""
    found = []
    middle = material.FRAMES // 2
    for number in range(material.TAKES):
        frames = material.take(prompt, number)
        found.append(("clean", number, scored(frames), scored(frames[middle : middle + 1])))
        if number != SEEN:
            continue
        for arm in arms.ARMS:
            hurt = arm.apply(frames, prompt)
            still = scored(hurt[middle : middle + 1]) if arm.name in STILL_DAMAGE else None
            found.append((arm.name, number, scored(hurt), still))
    for share in arms.SLOWED:
        slowed = material.take(prompt, SEEN, slowed=share)
        found.append((f"slowed {share:g}", SEEN, scored(slowed), None))
    return found


def made(prompts: int = material.PROMPTS, workers: int = 2):
    """{(arm, take, still): [record of each prompt]}."""
    bank: dict[tuple[str, int, bool], list[ArmClip]] = {}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for found in pool.map(_of_prompt, range(prompts)):
            for arm, number, clip, still in found:
                bank.setdefault((arm, number, False), []).append(clip)
                if still is not None:
                    bank.setdefault((arm, number, True), []).append(still)
    return bank


def real() -> Iterator[tuple[str, str, ArmClip, ArmClip]]:
    """(arm, prompt, reference, candidate) of stretches of the real clips."""
    count = material.FRAMES
    for at, (prompt, frames) in enumerate(arms.real_prompts()):
        reference = scored(frames[:count])
        yield LATER, prompt, reference, scored(frames[arms.LATER_BY :])
        for arm in arms.ARMS:
            yield arm.name, prompt, reference, scored(arm.apply(frames[:count], at))
