"""Users, their keys and sign-ins, the audit, and answers kept for repeated requests; no project
data.
"""
