"""How loud, how clean, how silent a sound is, from its samples alone."""
