"""Vega-Lite specifications, one idea a file; each function gives plain data that any page can embed."""
