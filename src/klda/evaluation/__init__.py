"""Judging policies: metrics, truth, replay."""
