"""How far a sound moved from its reference."""
