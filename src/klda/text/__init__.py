"""From text to arrays: tokens, keywords, windows and corpora."""
