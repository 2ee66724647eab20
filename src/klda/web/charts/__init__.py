"""Pictures of the studio: Vega-Lite as plain data, one idea a file, in the look of the reports.

They are written down rather than built, as a page is drawn for every request.
"""
