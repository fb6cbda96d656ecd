"""Every shape that crosses a border - REST, run config, run directory - as pydantic models; no
store, no torch.
"""
