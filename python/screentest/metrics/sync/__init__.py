"""Whether sound and picture happen together."""
