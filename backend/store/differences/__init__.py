"""What runs do not have in common besides their configs, as it is stored; what tells them apart
is in domain.differences.
"""
