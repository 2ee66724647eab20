"""Ray as an engine for the same work: preparation, training and backtests on many machines."""
