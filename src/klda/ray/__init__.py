"""Preparation, training and backtests on many machines, with Ray."""
