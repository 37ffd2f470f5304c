"""Whether a sound holds what was asked for."""
