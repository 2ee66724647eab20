"""The names of the sources of candidates, in a file of their own: commands need the names without heavy imports."""

from __future__ import annotations

from typing import Literal, get_args

Place = Literal["history", "viral", "nouns", "hashtags", "phrases", "rising", "sample"]
SOURCES: tuple[Place, ...] = get_args(Place)
PAPER_SOURCES: tuple[Place, ...] = ("history", "viral", "nouns")
USUAL_SOURCES: tuple[Place, ...] = (*PAPER_SOURCES, "hashtags")
Tagger = Literal["pattern", "spacy"]
"""What tells nouns from other words."""
SIZE = 50
"""Candidates in all; the paper's studies had 27 to 40."""
