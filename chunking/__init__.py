"""Pure text -> chunks. Knows nothing of engines, model weights or files."""
