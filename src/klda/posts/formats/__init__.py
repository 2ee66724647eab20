"""The formats of platforms: pure functions from a decoded record to an outcome."""
