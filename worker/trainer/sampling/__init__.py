"""From prompts to sampled responses, by the trainer's own decoding or by vLLM; no scores, no
updates.
"""
