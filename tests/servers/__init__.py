"""Servers on loopback that speak the protocols of the platforms, for tests and benchmarks."""
