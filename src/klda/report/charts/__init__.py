"""Charts as Vega-Lite specifications: each function returns plain data that any page can embed."""
