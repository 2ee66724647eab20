"""The other data of a monitor, in SQL."""
