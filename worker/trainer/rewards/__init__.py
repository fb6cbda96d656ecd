"""One file per kind of reward, and the scorer that adds them up; no sampling."""
