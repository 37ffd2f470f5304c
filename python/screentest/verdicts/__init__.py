"""Facts and a policy in, a tri-state verdict out. Nothing here decodes or measures."""
