"""The posts of a monitor, in a Delta Lake table."""
