"""Benchmarks: each prints JSON, so that numbers can be compared from run to run."""
