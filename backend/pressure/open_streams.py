"""What all streams of server-sent events keep to: how long one is open, what it says in silence.

Used by `backend.stream` and by `waiting_annotators`.
"""

PING_S = 15.0
LIFETIME_S = 900.0  # Then the browser comes back by itself.
# A comment, which no script of the browser hears.
PING = b": ping\n\n"
