"""Everything else that a monitor keeps, in SQL."""
