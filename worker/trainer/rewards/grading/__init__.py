"""Slow or foreign graders in processes of their own, which can be killed; no reward is here."""
