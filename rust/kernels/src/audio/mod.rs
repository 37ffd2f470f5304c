//! Sound: blocks of interleaved samples, `channels` to a frame, in [-1, 1].
