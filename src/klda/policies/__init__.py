"""Everything that can propose keywords, behind one protocol."""
