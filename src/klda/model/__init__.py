"""KLDA itself: mathematics on arrays."""
