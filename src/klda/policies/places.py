"""Where words that may become keywords are looked for, by name; in a file of its own, for those who only need names."""

from __future__ import annotations

SOURCES = ("history", "viral", "nouns", "hashtags", "phrases", "rising", "sample")
PAPER_SOURCES = ("history", "viral", "nouns")
SIZE = 50
"""Candidates in all; the paper's studies had 27 to 40."""
