"""What each verb of the command line does: serve, migrate, back up, prune, check; nothing that a
request needs.
"""
