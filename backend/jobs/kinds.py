"""The kinds of jobs: each by the function that does it, named so that only a child loads it."""

KINDS: dict[str, str] = {
    "agreement": "backend.jobs.agreement:agreement",
    "count_answers": "backend.jobs.answers:count_answers",
    "freeze_snapshot": "backend.jobs.freeze_snapshot:freeze_snapshot",
    "import_file": "backend.jobs.import_file:import_file",
    "inspect_model": "backend.jobs.inspect_model:inspect_model",
    "problem_set": "backend.jobs.problem_set:problem_set",
    "settle_import": "backend.jobs.import_file:settle_import",
}
# They last for minutes: one child is always left to the others.
LONG = frozenset({"count_answers", "freeze_snapshot", "problem_set"})
# One at a time, whoever asks: each holds the place of an import for as long as it has a child.
SINGLE = frozenset({"problem_set"})
