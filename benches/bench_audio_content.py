"""Asked words against the transcript of an hour: what ``audio_speech_fuzzy`` costs beside a model's
minutes. Each case asserts its answer before it is timed."""

import difflib
import random

import pytest

from screentest.metrics.audio_content.words import find_words, words_of

GROUP = "audio_speech_fuzzy: 8 words against a transcript of 9000, one of them misheard"

ASKED = words_of("the train leaves at seven in the morning")
NEAR = words_of("the train leaves at eleven in the morning")
# "se" and "ven" to "e", "le" and "ven": two characters of forty.
LIKENESS = 1 - 2 / 40


@pytest.fixture(scope="module")
def transcript():
    pick = random.Random(3)
    words = "a the of dog train light window river seven morning".split()  # noqa: SIM905
    said = [pick.choice(words) for _ in range(9000)]
    return (*said[:6000], *NEAR, *said[6000:])


def every_window(asked, said):
    """The standard library's ratio of every stretch of as many words."""
    wanted = " ".join(asked)
    matcher = difflib.SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(wanted)
    best = 0.0
    for at in range(len(said) - len(asked) + 1):
        matcher.set_seq1(" ".join(said[at : at + len(asked)]))
        best = max(best, matcher.ratio())
    return best


@pytest.mark.benchmark(group=GROUP)
def bench_find_words_screentest(timed, transcript):
    found = find_words(ASKED, transcript)
    assert found.likeness == pytest.approx(LIKENESS)
    assert found.stretch == " ".join(NEAR)
    timed(
        lambda: find_words(ASKED, transcript),
        10,
        against=lambda: every_window(ASKED, transcript),
        turns=3,
    )


@pytest.mark.benchmark(group=GROUP)
def bench_find_words_difflib(timed, transcript):
    assert every_window(ASKED, transcript) > 0.9
    timed(lambda: every_window(ASKED, transcript), 3)
