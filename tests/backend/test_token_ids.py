"""Ids end to end: what a model sampled is what is ranked, scored and trained on, to the id.

A real byte-pair tokenizer at temperature 1, through the API, the run directory and the trainer.
"""

import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient

from backend.artifacts import ArtifactStore
from backend.digest import go_on
from backend.schemas.records import GeneratedRecord, PreferenceRecord, PromptRecord
from backend.schemas.references import Reference
from backend.schemas.run_directory.events import TRAINER_LINE, SampleLine, TrainerLine
from backend.settings import Settings
from backend.store.db import Database
from backend.store.runs import runs, samples
from tests.backend.conftest import Service
from tests.backend.test_loop import upload
from tests.tiny_bpe import make_tiny_bpe_model
from worker.cancellation import Cancellation
from worker.digests import Digests
from worker.run_directory.export import Export
from worker.run_directory.intake import Intake
from worker.run_directory.layout import RunDirectory
from worker.trainer.__main__ import main
from worker.trainer.data.token_ids import tokenizer_hash
from worker.trainer.data.tokens import Batch, Tokens, encode_response, render_prompt
from worker.trainer.data.tokens import collate as plain_collate
from worker.trainer.methods import dpo, reward_model
from worker.trainer.models import heads, loading
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.sampling.answers import PROMPTS_PER_STEP
from worker.trainer.sampling.decoding import Request, Sampling, sample

AT = datetime(2026, 11, 23, tzinfo=UTC)
CPU = torch.device("cpu")
SEED = 3
N_PROMPTS, N_SAMPLES, N_TOKENS = 112, 9, 10
ROLLOUT = {"max_new_tokens": N_TOKENS, "max_prompt_tokens": 64, "temperature": 1.0}
SMALL = {"precision": "fp32", "resources": {"threads": 1}, "optim": {"lr": 1e-3}}

# A prompt and a response as ids.
Sequence = tuple[tuple[int, ...], tuple[int, ...]]


def sequence(tokens: Tokens) -> Sequence:
    return tuple(tokens.prompt), tuple(tokens.response)


@dataclass
class Place:
    """A project with a tiny real model, whose runs are executed here as a worker does."""

    api: TestClient
    database: Database
    settings: Settings
    project: str
    model: str
    tokenizer: Any
    prompts: dict[str, str] = field(default_factory=dict)

    def freeze(self, kind: str) -> str:
        body = {"name": kind, "kind": kind, "heldout_fraction": 0.2}
        made = self.api.post(f"/projects/{self.project}/snapshots", json=body)
        return str(made.raise_for_status().json()["id"])

    def run(self, method: str, **config: Any) -> RunDirectory:
        """A run from its creation to the intake of its results; gives its directory."""
        whole = {"method": method, "model": {"id": self.model}, **SMALL, **config}
        body = {"project_id": self.project, "name": method, "config": whole}
        run_id = self.api.post("/runs", json=body).raise_for_status().json()["id"]
        directory = RunDirectory(self.settings.runs_dir, run_id)
        artifacts = ArtifactStore(self.settings.resolved_artifact_url)
        cancellation = Cancellation(lambda _: True, go_on)
        with self.database.read() as session:
            run = runs.get(session, run_id)
        export = Export(self.settings, artifacts, Digests(), directory, cancellation)
        export.write(self.database, run)
        report = train(directory.path)
        assert report["code"] == 0, report
        intake = Intake(self.database, artifacts, directory, run)
        intake.collect(cancellation)

        def end() -> None:
            with self.database.write() as session:
                samples.append(session, run_id, 1, sample_lines(directory), at=AT)
                intake.keep(session, runs.get(session, run_id))

        intake.bring(cancellation, end)
        return directory

    def listed(self, what: str, **query: Any) -> list[dict[str, Any]]:
        """All pages of a list."""
        found: list[dict[str, Any]] = []
        asked = {"limit": 200, **query}
        while True:
            page = self.api.get(f"/projects/{self.project}/{what}", params=asked).json()
            found += page["items"]
            if page["next_cursor"] is None:
                return found
            asked["cursor"] = page["next_cursor"]

    def rank_all(self) -> None:
        """Rank every comparison: the shortest text is the best."""
        url = f"/projects/{self.project}/assignments"
        while (taken := self.api.post(url)).status_code == 201:
            shown = taken.json()["comparison"]["responses"]
            assert all(set(one) == {"id", "content"} for one in shown)
            order = sorted(shown, key=lambda one: (len(one["content"]), one["id"]))
            body = {"verdict": "ranked", "tiers": [[one["id"]] for one in order]}
            self.api.post(f"/assignments/{taken.json()['id']}/judgment", json=body)

    def reward_model(self) -> str:
        """The id of the reward model that was trained here."""
        models = self.api.get("/models", params={"project_id": self.project}).json()["items"]
        return next(str(one["id"]) for one in models if one["kind"] == "reward_model")


def train(path: Path) -> Any:
    """The trainer, here; it saves and restores what it sets for the whole process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        main([str(path / "config.json"), "--run-dir", str(path)])
    finally:
        torch.use_deterministic_algorithms(False)
        for number, handler in before.items():
            signal.signal(number, handler)
    return json.loads((path / "exit.json").read_text())


def events(directory: RunDirectory) -> list[TrainerLine]:
    return [TRAINER_LINE.validate_json(line) for line in directory.events.read_bytes().splitlines()]


def sample_lines(directory: RunDirectory) -> list[SampleLine]:
    return [line for line in events(directory) if isinstance(line, SampleLine)]


def alerts(directory: RunDirectory) -> dict[str, str]:
    return {line.rule: line.message for line in events(directory) if line.type == "alert"}


@pytest.fixture
def place(light_service: Service) -> Iterator[Place]:
    """A model and prompts, both known to the API."""
    settings = light_service.app.state.settings
    api, database = light_service.client(), Database(settings.database_url)
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    source = {"path": str(make_tiny_bpe_model(light_service.data_dir / "models" / "bpe"))}
    body = {"name": "bpe", "source": source, "project_id": project, "kind": "causal_lm"}
    model = api.post("/models", json=body).raise_for_status().json()["id"]
    upload(api, project, "prompts", *({"prompt": f"{n}?"} for n in range(N_PROMPTS)))
    tokenizer = load_tokenizer(Reference(**source))
    place = Place(api, database, settings, project, model, tokenizer)
    place.prompts["id"] = place.freeze("prompts")
    yield place
    database.close()


@pytest.mark.slow
def test_what_was_sampled_is_ranked_trained_on_and_scored_to_the_id(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,008 responses; of most of them the text is tokenized to other ids."""
    asked = {"prompts": place.prompts, "samples_per_prompt": N_SAMPLES, "rollout": ROLLOUT}
    generated = place.run("generate", **asked, seed=SEED)
    sampled = sampled_by_hand(generated, place.tokenizer)
    kept = place.listed("responses", token_ids=True)

    assert {(one["prompt_id"], one["index"]): one["token_ids"]["ids"] for one in kept} == {
        key: tokens.response for key, tokens in sampled.items()
    }
    assert len(kept) > 1000
    assert {one["token_ids"]["tokenizer"] for one in kept} == {tokenizer_hash(place.tokenizer)}
    assert sum(tokenized(one, place.tokenizer) != one["token_ids"]["ids"] for one in kept) > 900

    place.rank_all()
    preferences = {"id": place.freeze("preferences")}
    trained_on = watched(monkeypatch, reward_model)
    rewarded = place.run("reward_model", preferences=preferences, max_tokens=128)
    of_train, of_heldout = ranked(rewarded, {one["id"]: one for one in kept}, sampled)
    assert len(of_train) + len(of_heldout) > 1000
    assert trained_on == of_train
    assert "responses as the token ids that were sampled" in alerts(rewarded)["token_ids"]

    trained_on = watched(monkeypatch, dpo)
    preferred = place.run("dpo", preferences=preferences, max_tokens=128)
    assert trained_on == of_train | of_heldout
    assert {"other_prompt", "other_tokenizer", "other_text"}.isdisjoint(alerts(preferred))

    scores = scores_by_hand(rewarded, of_train | of_heldout)
    terms = [{"kind": "model", "model": {"id": place.reward_model()}}]
    again = place.run("generate", **asked, seed=SEED, reward=terms)
    for record in generated_records(again):
        key = sequence(sampled[record.prompt_id, record.index])
        if key in scores:
            assert record.scores["model"] == pytest.approx(scores[key], abs=1e-4)


@pytest.mark.slow
def test_samples_of_a_policy_are_ranked_as_what_they_were_sampled(place: Place) -> None:
    trained = place.run(
        "policy_gradient",
        prompts=place.prompts,
        reward={"terms": [{"kind": "length", "low": 1, "high": 3}]},
        rollout=ROLLOUT | {"prompts_per_step": 4, "samples_per_prompt": 4},
        log={"samples_per_step": 16, "probes": 2},
        steps=1,
    )
    run_id = trained.path.name
    items = place.api.get(f"/runs/{run_id}/samples").json()["items"]
    # A prompt that is sampled may be a probe, too, and then has other responses beside.
    shown = [one for one in items if one["kind"] == "rollout"]
    chosen = [one for one in shown if one["prompt_id"] == shown[0]["prompt_id"]]
    numbers = {one["number"]: one["response"] for one in chosen}

    body = {"numbers": list(dict(zip(numbers.values(), numbers, strict=True)).values())}
    made = place.api.post(f"/runs/{run_id}/samples/comparisons", json=body)

    assert made.status_code == 201, made.text
    lines = [line for line in sample_lines(trained) if line.kind == "rollout"]
    # The store cannot hold NUL, which a model that knows nothing yet may well write.
    told = {
        (line.prompt_id, line.response.replace("\0", "\N{REPLACEMENT CHARACTER}")): line.token_ids
        for line in lines
    }
    kept = place.listed("responses", token_ids=True)
    assert len(kept) == len(body["numbers"]) > 1
    for one in kept:
        ids = told[one["prompt_id"], one["content"]]
        assert ids is not None
        assert one["token_ids"] == ids.model_dump()
        assert one["n_tokens"] == len(ids.ids)
    detailed = [line for line in sample_lines(trained) if line.tokens is not None]
    assert {line.kind for line in detailed} == {"rollout", "probe"}
    for line in detailed:
        assert line.token_ids is not None
        assert line.tokens == [place.tokenizer.decode([one]) for one in line.token_ids.ids]


def sampled_by_hand(directory: RunDirectory, tokenizer: Any) -> dict[tuple[str, int], Tokens]:
    """What the model samples under the same seed, asked of the sampler itself.

    In the same portions: in others the last bits of a logit differ, and once in some hundred
    thousand tokens the number drawn for it lies between the two.
    """
    folder = json.loads(directory.config.read_text())["model"]["path"]
    model = loading.load_causal_lm(Reference(path=folder), dtype=torch.float32, device=CPU)
    lines = (directory.inputs / "prompts.jsonl").read_bytes().splitlines()
    records = [PromptRecord.model_validate_json(line) for line in lines]
    requests = [
        Request(one.prompt_id, render_prompt(tokenizer, one.messages, system=""), N_SAMPLES)
        for one in records
    ]
    sampling = Sampling(N_TOKENS, temperature=1.0, top_p=1.0, end_ids=[2], pad_id=2)
    found = [
        several
        for first in range(0, len(requests), PROMPTS_PER_STEP)
        for several in sample(
            model,
            requests[first : first + PROMPTS_PER_STEP],
            sampling,
            seed=SEED,
            stream=("generate",),
        )
    ]
    return {
        (request.key, index): Tokens(request.prompt, response.ids)
        for request, several in zip(requests, found, strict=True)
        for index, response in enumerate(several)
    }


def tokenized(response: dict[str, Any], tokenizer: Any) -> list[int]:
    """The ids that the text alone gives."""
    end_id = 2 if response["finish_reason"] == "stop" else None
    return encode_response(tokenizer, response["content"], end_id=end_id)


def watched(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> set[Sequence]:
    """Everything that a method puts into batches from now on."""
    seen: set[Sequence] = set()

    def collate(sequences: list[Tokens], **options: Any) -> Batch:
        seen.update(map(sequence, sequences))
        return plain_collate(sequences, **options)

    monkeypatch.setattr(module, "collate", collate)
    return seen


def ranked(
    directory: RunDirectory,
    responses: dict[str, dict[str, Any]],
    sampled: dict[tuple[str, int], Tokens],
) -> tuple[set[Sequence], set[Sequence]]:
    """What was sampled as the responses that the train and the held-out rankings hold."""
    sides: dict[str, set[Sequence]] = {"train": set(), "heldout": set()}
    for line in (directory.inputs / "preferences.jsonl").read_bytes().splitlines():
        record = PreferenceRecord.model_validate_json(line)
        for one in record.responses:
            found = responses[one.id]
            assert found["content"] == one.content
            sides[record.split].add(sequence(sampled[found["prompt_id"], found["index"]]))
    return sides["train"], sides["heldout"]


def scores_by_hand(directory: RunDirectory, sequences: set[Sequence]) -> dict[Sequence, float]:
    """What a reward model says of each sequence alone."""
    reference = Reference(path=str(directory.output))
    model, _, _ = heads.load_reward_model(reference, dtype=torch.float32, device=CPU)
    with torch.no_grad():
        return {
            one: float(model(plain_collate([Tokens(*map(list, one))], pad_id=2, device=CPU)))
            for one in sequences
        }


def generated_records(directory: RunDirectory) -> list[GeneratedRecord]:
    lines = (directory.output / "responses.jsonl").read_bytes().splitlines()
    return [GeneratedRecord.model_validate_json(line) for line in lines]
