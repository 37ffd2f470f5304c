"""Which reference frame each candidate frame shows: proof of frame alignment before any score.

Both clips are read once, side by side, and only small signatures of the last frames are kept. A
signature is the mean luma of up to 64 x 64 blocks; signatures are compared by correlation, so that
brightness, contrast, range and depth do not matter. The cheapest monotone way through the
comparisons gives the lag, the dropped and the repeated frames, to the frame.

A turn of that way is believed only where it beats index pairing clearly, explains as much as the
reference itself moves over the shift, and is sharp; where the frame counts do not bear the shift
out, it must save half as much again as it leaves. What is ambiguous stays at lag 0, and
``lag_evidence`` is false:

* a picture that stands still, is flat, moves by less than about a third of a pixel a frame under
  heavy noise or coding, or changes in brightness alone (a fade over a still);
* one that repeats itself within 32 frames;
* a candidate of other content.

A candidate whose picture is moved along a steady pan by as much as the pan moves in a frame is the
same as one that lags, and is called so.

A frame dropped or repeated while the reference pauses is placed somewhere in the pause. One dropped
right before the end reads as missing at the end, one repeated at the very end as extra there. A
coder at a very low rate may hold a slow picture for a frame or two: an event is then placed that
far off, or a held frame is listed as repeated. Shifts of more than 32 frames are not found.
"""

from __future__ import annotations

from screentest.metrics.pairing.accumulator import PairingAccumulator
from screentest.metrics.pairing.differences import INFORMATIONAL, Difference, differences_of
from screentest.metrics.pairing.facts import IMPL, REACH, PairingFacts

__all__ = [
    "IMPL",
    "INFORMATIONAL",
    "REACH",
    "Difference",
    "PairingAccumulator",
    "PairingFacts",
    "differences_of",
]
