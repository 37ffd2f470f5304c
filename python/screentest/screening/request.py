"""What a clip is to be screened for and judged by, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from screentest.errors import InputError, PolicyError
from screentest.verdicts.delivery import Delivery, DeliveryLike, as_delivery
from screentest.verdicts.policy import AXES, Policy, PolicyLike, as_policy

if TYPE_CHECKING:
    from screentest.verdicts.audio_policy import AudioPolicy, AudioPolicyLike
    from screentest.verdicts.temporal_policy import TemporalPolicy, TemporalPolicyLike

__all__ = ["Asked", "Depth", "asked_for", "sound_policy_of"]

Depth = Literal["full", "sampled"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a clip is judged by; ``temporal`` and ``audio`` are ``None`` where these screens are not
    asked for."""

    policy: Policy
    spec: Delivery | None
    depth: Depth
    require: tuple[str, ...]
    temporal: TemporalPolicy | None
    audio: AudioPolicy | None


def sound_policy_of(audio: bool, policy: AudioPolicyLike) -> AudioPolicy | None:
    """The policy of the sound, ``None`` where it is left out."""
    if not isinstance(audio, bool):
        raise InputError(
            f"audio={audio!r}: True or False was expected; a policy goes to audio_policy"
        )
    if not audio:
        if policy is not None:
            raise InputError("an audio policy was given, but audio=False leaves the sound out")
        return None
    from screentest.verdicts.audio_policy import as_audio_policy

    return as_audio_policy(policy)


def asked_for(
    policy: PolicyLike,
    spec: DeliveryLike,
    depth: Depth,
    require: Iterable[str],
    temporal: bool,
    temporal_policy: TemporalPolicyLike,
    audio: AudioPolicy | None = None,
) -> Asked:
    """The request, checked as far as it can be before anything is opened."""
    if not isinstance(temporal, bool):
        raise InputError(
            f"temporal={temporal!r}: True or False was expected; a policy goes to temporal_policy"
        )
    if temporal_policy is not None and not temporal:
        raise InputError(
            "a temporal policy was given, but the temporal screens were not asked for: "
            "say temporal=True (--temporal) as well"
        )
    if temporal and depth == "sampled":
        raise InputError(
            "the temporal screens need every frame, and depth='sampled' reads ten: "
            "use depth='full', or leave temporal out"
        )
    limits = None
    if temporal:
        from screentest.verdicts.temporal_policy import as_temporal_policy

        limits = as_temporal_policy(temporal_policy)
    axes = _axes(require, temporal, audio is not None)
    return Asked(as_policy(policy), as_delivery(spec), _depth(depth), axes, limits, audio)


def _depth(depth: Depth) -> Depth:
    if depth not in ("full", "sampled"):
        raise InputError(f"depth is {depth!r}; 'full' or 'sampled' was expected")
    return depth


def _axes(require: Iterable[str], temporal: bool, audio: bool) -> tuple[str, ...]:
    axes = (require,) if isinstance(require, str) else tuple(require)
    if all(axis in AXES for axis in axes):
        return axes
    from screentest.metrics.temporal import AXES as TEMPORAL_AXES

    known = (*AXES, *(TEMPORAL_AXES if temporal else ()), *(("audio",) if audio else ()))
    for axis in axes:
        if axis in known:
            continue
        if axis in TEMPORAL_AXES:
            told = "an axis of the temporal screens: say temporal=True (--temporal) as well"
        elif axis == "audio":
            told = "but the sound is left out: a file is heard unless audio=False (--no-audio)"
        else:
            told = f"which is no axis; the axes are {', '.join(known)}"
        raise PolicyError(f"require names {axis!r}, {told}", code="unknown_axis", axis=str(axis))
    return axes
