"""From word distributions to keyword lists: pure functions of arrays."""
