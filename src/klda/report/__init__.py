"""Reports as HTML files, and their charts, which web pages use too."""
