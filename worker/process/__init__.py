"""Operating-system processes, devices and the guard between supervisor and trainer; no run
directory, no store queries.
"""
