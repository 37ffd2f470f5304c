"""Documents: canonical bytes and the shapes that are written. Nothing here measures."""
