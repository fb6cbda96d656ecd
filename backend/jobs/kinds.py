"""The kinds of jobs: each by the function that does it, named so that only a child loads it."""

KINDS: dict[str, str] = {
    "import_file": "backend.jobs.import_file:import_file",
}
