"""Responses sampled to prompts, by the trainer's own decoding or by vLLM; no scores, no updates."""
