"""From text to arrays: tokens, keywords, windows, and a simulated world."""
