"""What is written for a trainer before it starts and read back while it runs and when it ends; no
processes.
"""
