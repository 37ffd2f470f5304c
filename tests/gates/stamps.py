"""Protocol stamps that tests vary one field of."""

from screentest.protocol import Protocol

OF_A_RUN = {
    "family": "ltx-2.3",
    "reference_arm": "bf16",
    "candidate_arm": "w8a8",
    "changes": ("video-encoder",),
    "width": 64,
    "height": 48,
    "frames": 6,
    "steps": 8,
    "seeds": (0,),
    "prompts": ("a cat", "a dog"),
    "execution_lane": "compiled",
    "hardware": "H100",
}


def stamp(**changed):
    """The stamp of two arms that an encoder tells apart, with these fields changed."""
    return Protocol(**{**OF_A_RUN, **changed})


def paired(**changed):
    """The stamp of a paired-fidelity run."""
    return stamp(**{"changes": ("compile",), "purpose": "paired-fidelity", **changed})


def of_a_repeat(**changed):
    """The stamp of a repeat control for the run of :func:`paired`."""
    return paired(**{"changes": ("repeat",), "candidate_arm": OF_A_RUN["reference_arm"], **changed})
