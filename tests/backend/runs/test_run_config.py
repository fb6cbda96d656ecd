"""Run configs through the REST API: what is refused or warned of, and how it is said."""

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from backend.domain.presets.registry import PRESETS
from backend.domain.presets.sourced import sourced
from backend.domain.run_config import merged, problems_of
from backend.schemas.methods import METHODS
from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import PointsTo
from backend.schemas.rewards import characters_in_ranges
from backend.schemas.sections import TEMPLATES
from backend.schemas.training import parse_run_config
from backend.schemas.vocabulary import GROUPED_ESTIMATORS, Method
from backend.store.db import Database
from backend.store.tables.data import Snapshot
from backend.store.tables.models import Model
from tests.backend.conftest import Service
from tests.backend.runs.conftest import AT, Seed, plant
from tests.least_config import least_config

HUB = {"hub_id": "owner/name"}


@pytest.fixture(scope="module")
def seed(lasting_url: str) -> Seed:
    """What stands in the store of all tests here; none of them makes a run."""
    with closing(Database(lasting_url)) as database:
        return plant(database)


@pytest.fixture
def api(lasting_service: Service, seed: Seed) -> TestClient:
    """A client of the application over that store."""
    return lasting_service.client()


@pytest.fixture
def own_seed(database: Database) -> Seed:
    """The same in a store of the test's own."""
    return plant(database)


@pytest.fixture
def own_api(service: Service, own_seed: Seed) -> TestClient:
    """A client of the application over the test's own store."""
    return service.client()


def problems(api: TestClient, seed: Seed, config: dict[str, Any]) -> list[dict[str, Any]]:
    """What POST /runs/validate says; the same must keep the run from being created."""
    body = seed.body(config)
    answer = api.post("/runs/validate", json=body).raise_for_status().json()
    errors = [found for found in answer["problems"] if found["level"] == "error"]
    assert answer["valid"] is (not errors)
    if errors:
        refused = api.post("/runs", json=body)
        assert refused.status_code == 422
        assert refused.json()["errors"] == answer["problems"]
        assert api.get("/runs").json()["items"] == []
    return list(answer["problems"])


@pytest.mark.parametrize(
    ("config", "begins"),
    [
        ({"method": "sftt"}, "method is 'sftt', but must be one of 'sft', 'reward_model', "),
        ({"method": None}, "method is null, but must be one of 'sft', "),
        ({}, "method is missing; it must be one of 'sft', "),
        (
            {"method": "generate", "reward": [{"kind": "maths"}]},
            "reward.0.kind is 'maths', but must be one of 'model', 'process', 'math', ",
        ),
        (
            {"method": "generate", "reward": [{}]},
            "reward.0.kind is missing; it must be one of 'model', 'process', 'math', ",
        ),
    ],
)
def test_a_choice_that_there_is_not_is_told_with_those_that_there_are(
    config: dict[str, Any], begins: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        parse_run_config(config)

    found = [one.message for one in problems_of(refused.value, config)]
    assert [one for one in found if one.startswith(begins)], found


@pytest.mark.parametrize(
    ("change", "path", "advice"),
    [
        ({"learning_rate": 1e-4}, "learning_rate", "Did you mean optim.lr?"),
        ({"optim": {"learnin_rate": 1}}, "optim.learnin_rate", "Did you mean optim.lr?"),
        ({"optim": {"grad_clap": 1}}, "optim.grad_clap", "Did you mean optim.grad_clip?"),
        ({"max_tokenz": 8}, "max_tokenz", "Did you mean max_tokens?"),
        ({"xyzzy": 8}, "xyzzy", "Remove it."),
    ],
)
def test_an_unknown_key_is_named_with_what_was_meant(
    api: TestClient, seed: Seed, change: dict[str, Any], path: str, advice: str
) -> None:
    (found,) = problems(api, seed, seed.sft(**change))

    assert (found["path"], found["advice"]) == (path, advice)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1}, "seed is -1, but must be at least 0"),
        ({"seed": 1.5}, "seed is 1.5, but must be a whole number"),
        ({"seed": None}, "seed is null, but must be a whole number"),
        ({"optim": {"grad_clip": 0}}, "optim.grad_clip is 0, but must be above 0"),
        ({"optim": {"lr": "fast"}}, 'optim.lr is "fast", but must be a number'),
        ({"optim": {"schedule": "step"}}, "but must be 'constant', 'linear' or 'cosine'"),
        ({"lora": {"dropout": 1}}, "lora.dropout is 1, but must be below 1"),
        ({"max_tokens": 4_000_000}, "max_tokens is 4000000, but must be at most 1048576"),
        ({"packing": "maybe"}, 'packing is "maybe", but must be true or false'),
        ({"system": "a" * 10_001}, "system has 10001 characters, but must have at most 10000"),
        ({"model": 3}, "model is 3, but must be an object"),
    ],
)
def test_a_value_out_of_bounds_is_told_with_the_bound(
    api: TestClient, seed: Seed, change: dict[str, Any], message: str
) -> None:
    (found,) = problems(api, seed, seed.sft(**change))

    assert message in found["message"]


def test_a_reward_without_terms_is_refused(api: TestClient, seed: Seed) -> None:
    (found,) = problems(api, seed, seed.policy_gradient(reward={"terms": []}))

    assert found["message"] == "reward.terms has 0 items, but must have at least 1"


def test_an_unknown_key_of_a_reward_term_is_found_in_its_place(api: TestClient, seed: Seed) -> None:
    term = {"kind": "length", "low": 3, "hihg": 14}
    config = seed.policy_gradient(reward={"terms": [term]})

    (found,) = problems(api, seed, config)

    assert found["path"] == "reward.terms.0.hihg"


def test_a_band_of_lengths_that_holds_none_is_refused(api: TestClient, seed: Seed) -> None:
    config = seed.policy_gradient(reward={"terms": [{"kind": "length", "low": 9, "high": 3}]})

    (found,) = problems(api, seed, config)

    assert found["path"] == "reward.terms.0"
    assert "low is 9 and high is 3, so no length fits" in found["message"]


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({}, "method"),
        ({"method": "magic"}, "method"),
        ({"method": "sft"}, "model"),
        ({"method": "sft", "model": HUB, "demonstrations": {}}, "demonstrations"),
    ],
)
def test_what_is_missing_is_named(
    api: TestClient, seed: Seed, config: dict[str, Any], path: str
) -> None:
    assert path in [found["path"] for found in problems(api, seed, config)]


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (
            {"model": {"path": "/etc"}},
            "model",
            "a path is allowed only in a config that the trainer reads from a file",
        ),
        (
            {"model": {"id": "model_gone"}},
            "model",
            "model model_gone does not exist, or you cannot see it",
        ),
        (
            {"model": {"id": "model_reward"}},
            "model",
            "is a reward model; expected a language model",
        ),
        (
            {"demonstrations": {"id": "snapshot_gone"}},
            "demonstrations",
            "snapshot_gone does not exist",
        ),
        ({"demonstrations": HUB}, "demonstrations", "data must be a snapshot"),
        (
            {"demonstrations": {"id": "snapshot_prompts"}},
            "demonstrations",
            "holds prompts; expected demonstrations",
        ),
        (
            {"demonstrations": {"id": "snapshot_demonstrations", "sha256": "0" * 64}},
            "demonstrations",
            "the config names the sha256 000000000000...",
        ),
    ],
)
def test_a_reference_that_does_not_fit_is_refused(
    api: TestClient, seed: Seed, change: dict[str, Any], path: str, message: str
) -> None:
    (found,) = problems(api, seed, seed.sft(**change))

    assert found["path"] == path
    assert message in found["message"]


def test_a_nucleus_with_a_temperature_is_refused_for_vllm(api: TestClient, seed: Seed) -> None:
    vllm = {"engine": "vllm", "top_p": 0.9}

    (refused,) = problems(api, seed, seed.policy_gradient(rollout=vllm | {"temperature": 0.7}))

    assert refused["level"] == "error"
    assert "set one of them to 1, or set rollout.engine to transformers" in refused["message"]
    allowed = problems(api, seed, seed.policy_gradient(rollout=vllm))
    assert all(found["level"] == "warning" for found in allowed)


def generate(seed: Seed, samples_per_prompt: int = 1, **rollout: Any) -> dict[str, Any]:
    """A config that samples responses."""
    return {
        "method": "generate",
        "model": {"id": seed.policy},
        "prompts": {"id": seed.prompts},
        "samples_per_prompt": samples_per_prompt,
        "rollout": rollout,
    }


def test_greedy_sampling_is_for_one_response_and_not_for_training(
    api: TestClient, seed: Seed
) -> None:
    reward = {"reward": {"terms": [{"kind": "finished"}]}}
    evaluate = generate(seed, temperature=0) | {"method": "evaluate"} | reward
    assert problems(api, seed, generate(seed, temperature=0)) == []
    assert problems(api, seed, evaluate) == []
    vllm = {"engine": "vllm", "top_p": 0.9}
    assert problems(api, seed, generate(seed, temperature=0, **vllm)) == []

    for several in (generate(seed, 4, temperature=0), evaluate | {"samples_per_prompt": 4}):
        (found,) = problems(api, seed, several)
        assert found["level"] == "error"
        assert "samples_per_prompt is 4, but rollout.temperature is 0" in found["message"]
    (found,) = problems(api, seed, seed.policy_gradient(rollout={"temperature": 0}))
    assert "rollout.temperature is 0, but policy_gradient learns" in found["message"]
    (found,) = problems(api, seed, generate(seed, temperature=-0.1))
    assert found["path"] == "rollout.temperature"


@pytest.mark.parametrize("template", [*TEMPLATES, "{{ bos_token }}{{ messages[0]['content'] }}"])
def test_a_template_is_a_name_or_jinja(api: TestClient, seed: Seed, template: str) -> None:
    assert problems(api, seed, seed.sft(template=template)) == []
    assert problems(api, seed, generate(seed, template=template)) == []


def test_a_template_of_neither_kind_is_refused_with_the_names(api: TestClient, seed: Seed) -> None:
    for config in (seed.sft(template="r1zero"), generate(seed, template="r1zero")):
        (found,) = problems(api, seed, config)
        assert found["path"].endswith("template")
        assert (
            "'r1zero' is not the name of a template; choose one of model, plain, text, r1_zero"
            in (found["message"])
        )
    (found,) = problems(api, seed, seed.sft(template="{{ x }}" * 3000))
    assert "20,000" in found["message"] or "20000" in found["message"]


@pytest.mark.parametrize(
    ("stop", "path"),
    [
        ([""], "rollout.stop.0"),
        (["x" * 101], "rollout.stop.0"),
        ([str(n) for n in range(9)], "rollout.stop"),
        ("</answer>", "rollout.stop"),
        ([5], "rollout.stop.0"),
    ],
)
def test_stop_strings_that_are_none_are_named(
    api: TestClient, seed: Seed, stop: Any, path: str
) -> None:
    assert problems(api, seed, generate(seed, stop=["</answer>", "\n\n"])) == []
    (found,) = problems(api, seed, generate(seed, stop=stop))
    assert found["path"] == path


def test_dpo_can_be_run_and_wants_rankings(api: TestClient, seed: Seed) -> None:
    dpo = {
        "method": "dpo",
        "model": {"id": seed.policy},
        "reference": {"id": seed.policy},
        "preferences": {"id": seed.preferences},
    }

    assert problems(api, seed, dpo) == []
    (found,) = problems(api, seed, dpo | {"preferences": {"id": seed.prompts}})
    assert found["path"] == "preferences"
    (found,) = problems(api, seed, dpo | {"lora": {"dropout": 0.1}})
    assert "must be 0 for dpo" in found["message"]


def test_a_process_term_wants_a_process_reward_model(api: TestClient, seed: Seed) -> None:
    term = {"kind": "process", "process_model": {"id": seed.reward_model}, "combine": "mean"}
    training = {
        "method": "process_reward_model",
        "model": {"id": seed.policy},
        "solutions": {"id": "snapshot_solutions"},
    }

    assert problems(api, seed, training) == []
    (found,) = problems(api, seed, seed.policy_gradient(reward={"terms": [term]}))
    assert found["path"] == "reward.terms.0.process_model"
    assert "is a reward model; expected a process reward model" in found["message"]


def test_a_grouped_estimator_wants_groups(api: TestClient, seed: Seed) -> None:
    grouped = {"samples_per_prompt": 4}
    good = seed.policy_gradient(estimator="grpo", rollout=grouped)
    alone = seed.policy_gradient(estimator="rloo")
    discounted = seed.policy_gradient(estimator="grpo", rollout=grouped, gae={"gamma": 0.9})

    assert problems(api, seed, alone)[0]["path"] == "rollout.samples_per_prompt"
    assert problems(api, seed, discounted)[0]["path"] == "gae.gamma"
    assert problems(api, seed, good) == []


def test_lambda_is_for_ppo_alone(api: TestClient, seed: Seed) -> None:
    """The default says nothing: it stands in every stored config with a gamma."""
    (found,) = problems(api, seed, seed.policy_gradient(gae={"lam": 0.5}))

    assert found["path"] == "gae.lam"
    assert "has an effect only with estimator ppo" in found["message"]
    assert problems(api, seed, seed.policy_gradient(gae={"lam": 0.5}, estimator="ppo")) == []
    assert problems(api, seed, seed.policy_gradient(gae={"gamma": 0.9, "lam": 0.95})) == []


def test_a_key_that_only_other_methods_use_is_named_by_its_path(
    api: TestClient, seed: Seed
) -> None:
    (found,) = problems(api, seed, seed.policy_gradient(optim={"batch_size": 8}))

    assert found["path"] == "optim.batch_size"
    assert "policy_gradient does not use it" in found["message"]


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"kl": {"horizon": 100}}, "kl.horizon", "only with kl.target"),
        ({"overlong_penalty": {}}, "overlong_penalty", "but overlong is keep"),
        (
            {"overlong": "penalize", "overlong_penalty": {"buffer_tokens": 129}},
            "overlong_penalty.buffer_tokens",
            "more than rollout.max_new_tokens (128); lower it to at most 128",
        ),
        (
            {"dynamic_sampling": {}},
            "dynamic_sampling",
            "only with estimators that compare the responses of one prompt",
        ),
    ],
)
def test_a_section_without_a_use_is_refused(
    api: TestClient, seed: Seed, change: dict[str, Any], path: str, message: str
) -> None:
    (found,) = problems(api, seed, seed.policy_gradient(**change))
    assert found["path"] == path
    assert message in found["message"]


def test_only_ppo_has_a_critic(api: TestClient, seed: Seed) -> None:
    ppo = seed.policy_gradient(estimator="ppo", critic={"trunk": "shared"})
    remax = seed.policy_gradient(estimator="remax", critic={})

    assert problems(api, seed, ppo) == []
    (found,) = problems(api, seed, remax)
    assert found["path"] == "critic"
    assert "only with estimator ppo, but estimator is remax" in found["message"]


@pytest.mark.parametrize("pattern", ["(a", "a{99999999999}"])
def test_a_pattern_that_is_none_is_named(api: TestClient, seed: Seed, pattern: str) -> None:
    config = seed.policy_gradient(reward={"terms": [{"kind": "regex", "pattern": pattern}]})

    (found,) = problems(api, seed, config)

    assert found["path"] == "reward.terms.0.pattern"
    assert "not a valid Python regular expression" in found["message"]


def wide_pattern(n_ranges: int, start: int = 0x100) -> str:
    """A set of `n_ranges` different ranges, each of nearly all characters of two bytes."""
    return "[" + "".join(f"{chr(start + number)}-\uffff" for number in range(n_ranges)) + "]"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("[a-z0-9]", 36),
        ("[^\\x00-\\x7f]", 128),
        (r"[\u4e00-\u9fa5]", 0x9FA5 - 0x4E00 + 1),
        ("[\u4e00-\u9fa5]", 0x9FA5 - 0x4E00 + 1),
        (r"[\0-\377]", 256),
        (r"[\N{LATIN SMALL LETTER A}-\N{HYPHEN-MINUS}]", 0),
        (r"[\U00010000-\U0010ffff]", 0),
        # An escaped backslash escapes nothing: the range begins at the letter.
        (r"[\\uffff-\uffff]", 0xFFFF - ord("f") + 1),
        (r"(?#\N{)[\u0100-\uffff](?#})", 0xFFFF - 0x100 + 1),
        (r"[--\uffff]", 0xFFFF - ord("-") + 1),
        (r"[\d]|a{2}|\x", 0),
        (wide_pattern(3), sum(0xFFFF - 0x100 - number + 1 for number in range(3))),
    ],
)
def test_the_characters_in_the_ranges_of_a_pattern_are_counted(pattern: str, expected: int) -> None:
    assert characters_in_ranges(pattern) == expected


def test_patterns_that_are_slow_to_compile_are_refused_before_they_are_compiled(
    api: TestClient, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []

    def _compile(pattern: str) -> None:
        compiled.append(pattern)

    wide = [wide_pattern(160, start=0x100 + number) for number in range(15)]
    terms = [
        {"kind": "regex", "pattern": one, "name": f"n{number}"}
        for number, one in enumerate([*wide, "[a-z]"])
    ]
    monkeypatch.setattr("backend.schemas.rewards.re.compile", _compile)
    body = seed.body(seed.policy_gradient(reward={"terms": terms}))

    answer = api.post("/runs/validate", json=body).raise_for_status().json()
    refused = api.post("/runs", json=body)

    assert refused.status_code == 422
    assert [one["path"] for one in answer["problems"]] == [
        f"reward.terms.{number}.pattern" for number in range(15)
    ]
    assert "all ranges of a pattern may have 200,000" in answer["problems"][0]["message"]
    assert set(compiled) == {"[a-z]"}


def test_a_snapshot_without_pairs_trains_no_reward_model(
    own_api: TestClient, own_seed: Seed, database: Database
) -> None:
    with database.write() as session:
        session.add(
            Snapshot(
                id="snapshot_ties",
                created_at=AT,
                project_id=own_seed.project,
                name="only ties",
                kind="preferences",
                sha256="0" * 64,
                heldout_fraction=0.5,
                seed=0,
                filter={},
                counts={"train": {"records": 3, "pairs": 0}, "heldout": {"records": 1, "pairs": 4}},
            )
        )
    config = {
        "method": "reward_model",
        "model": {"id": own_seed.policy},
        "preferences": {"id": "snapshot_ties"},
    }

    (found,) = problems(own_api, own_seed, config)

    assert "'only ties' has no pairs in its train split" in found["message"]
    assert "Rank some comparisons" in found["advice"]


@pytest.fixture
def all_train(database: Database, own_seed: Seed) -> Mapping[str, dict[str, str]]:
    """Snapshots that hold nothing out, by their kind."""
    found = {}
    with database.write() as session:
        for kind in ("prompts", "demonstrations"):
            found[kind] = {"id": f"snapshot_all{kind}"}
            session.add(
                Snapshot(
                    id=found[kind]["id"],
                    created_at=AT,
                    project_id=own_seed.project,
                    name="all train",
                    kind=kind,
                    sha256="0" * 64,
                    heldout_fraction=0,
                    seed=0,
                    filter={},
                    counts={"train": {"records": 9}},
                )
            )
    return found


def test_a_kl_limit_without_held_out_prompts_is_refused(
    own_api: TestClient, own_seed: Seed, all_train: Mapping[str, dict[str, str]]
) -> None:
    limit = {"kl": {"max": 3.0}, "eval_every": 5}

    (found,) = problems(
        own_api, own_seed, own_seed.policy_gradient(prompts=all_train["prompts"], **limit)
    )

    assert (found["path"], found["level"]) == ("kl.max", "error")
    assert found["message"].endswith("but snapshot 'all train' has no held-out prompts")
    assert problems(own_api, own_seed, own_seed.policy_gradient(**limit)) == []


def test_evaluations_of_nothing_are_warned_of(
    own_api: TestClient, own_seed: Seed, all_train: Mapping[str, dict[str, str]]
) -> None:
    (found,) = problems(
        own_api, own_seed, own_seed.sft(demonstrations=all_train["demonstrations"], eval_every=5)
    )

    assert (found["path"], found["level"]) == ("eval_every", "warning")
    assert "has no held-out demonstrations, so nothing is evaluated" in found["message"]
    assert problems(own_api, own_seed, own_seed.sft(eval_every=5)) == []
    named = {"name": "ood", "prompts": {"id": own_seed.prompts}}
    config = own_seed.policy_gradient(prompts=all_train["prompts"], eval_every=5)
    assert [one["path"] for one in problems(own_api, own_seed, config)] == ["eval_every"]
    assert problems(own_api, own_seed, config | {"evaluation_sets": [named]}) == []
    assert problems(own_api, own_seed, config | {"texts": all_train["demonstrations"]}) == []


def test_texts_are_read_whole_and_need_nothing_held_out(
    own_api: TestClient, own_seed: Seed, database: Database
) -> None:
    """Also where all of them are held out, and beside prompts of which some are."""
    with database.write() as session:
        session.add(
            Snapshot(
                id="snapshot_texts",
                created_at=AT,
                project_id=own_seed.project,
                name="all held out",
                kind="demonstrations",
                sha256="0" * 64,
                heldout_fraction=1,
                seed=0,
                filter={},
                counts={"heldout": {"records": 9}},
            )
        )
    config = own_seed.policy_gradient(texts={"id": "snapshot_texts"}, eval_every=5)

    assert problems(own_api, own_seed, config) == []
    (found,) = problems(own_api, own_seed, config | {"texts": {"id": own_seed.prompts}})
    assert (found["path"], found["level"]) == ("texts", "error")
    assert "expected demonstrations" in found["message"]


def test_a_comparison_with_the_reference_needs_a_set(api: TestClient, seed: Seed) -> None:
    config = seed.policy_gradient(compare_with_reference=True)

    (found,) = problems(api, seed, config)

    assert "there are no evaluation_sets to compare on" in found["message"]


@pytest.mark.parametrize(
    "terms",
    [
        [{"kind": "finished"}],
        [{"kind": "model", "model": {"id": "model_reward"}, "weight": 0}],
        [{"kind": "model", "model": {"id": "model_reward"}}, {"kind": "finished"}],
    ],
)
def test_statistics_of_a_model_that_is_not_the_whole_reward_are_refused(
    api: TestClient, seed: Seed, terms: list[dict[str, Any]]
) -> None:
    reward = {"terms": terms, "normalize": "model"}

    (found,) = problems(api, seed, seed.policy_gradient(reward=reward))

    assert found["path"] == "reward"
    assert "use one term of kind model with a weight other than 0" in found["message"]


@pytest.mark.parametrize(
    ("term", "path"),
    [
        ({"kind": "model", "model": HUB}, "reward.terms.0.model"),
        ({"kind": "process", "process_model": HUB}, "reward.terms.0.process_model"),
    ],
)
def test_a_reward_model_of_a_hub_is_refused(
    api: TestClient, seed: Seed, term: dict[str, Any], path: str
) -> None:
    (found,) = problems(api, seed, seed.policy_gradient(reward={"terms": [term]}))

    assert found["path"] == path
    assert "cannot come from a hub; found the hub_id owner/name" in found["message"]
    assert problems(api, seed, seed.policy_gradient(model=HUB)) == []


@pytest.mark.parametrize("estimator", sorted(GROUPED_ESTIMATORS))
def test_one_response_per_prompt_is_refused_for_a_group_estimator(
    api: TestClient, seed: Seed, estimator: str
) -> None:
    (found,) = problems(api, seed, seed.policy_gradient(estimator=estimator))

    assert found["path"] == "rollout.samples_per_prompt"
    assert found["message"].startswith(f"rollout.samples_per_prompt is 1, but {estimator} compares")
    assert found["message"].endswith("sample at least 2 per prompt, or use reinforce_pp")
    many = {"samples_per_prompt": 2}
    assert problems(api, seed, seed.policy_gradient(estimator=estimator, rollout=many)) == []


@pytest.mark.parametrize(
    ("kind", "path"),
    [("reward_model", "reward.terms.0.model"), ("causal_lm", "reference")],
)
def test_a_model_with_another_vocabulary_is_refused(
    own_api: TestClient, own_seed: Seed, database: Database, kind: str, path: str
) -> None:
    with database.write() as session:
        session.add(
            Model(
                id="model_other",
                created_at=AT,
                name="other",
                kind=kind,
                source=HUB,
                facts={"vocab_size": 100},
            )
        )
    other = {"id": "model_other"}
    changes = {
        "reference": {"reference": other},
        "reward.terms.0.model": {"reward": {"terms": [{"kind": "model", "model": other}]}},
    }

    (found,) = problems(own_api, own_seed, own_seed.policy_gradient(**changes[path]))

    assert found["path"] == path
    assert (
        "'other' has a vocabulary of 100 tokens, but 'causal_lm' has one of 512" in found["message"]
    )
    assert found["advice"]


def add_small_model(database: Database) -> None:
    """One with a window of 300 tokens."""
    with database.write() as session:
        session.add(
            Model(
                id="model_small",
                created_at=AT,
                name="small",
                kind="causal_lm",
                source=HUB,
                facts={"vocab_size": 512, "context_length": 300},
            )
        )


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("model", {"model": {"id": "model_small"}, "reward": {"terms": [{"kind": "finished"}]}}),
        ("reference", {"reference": {"id": "model_small"}}),
    ],
)
def test_sequences_longer_than_a_models_window_are_refused(
    own_api: TestClient, own_seed: Seed, database: Database, path: str, change: dict[str, Any]
) -> None:
    add_small_model(database)
    long = {"rollout": {"max_prompt_tokens": 201, "max_new_tokens": 100}}
    fits = {"rollout": {"max_prompt_tokens": 200, "max_new_tokens": 100}}

    (found,) = problems(own_api, own_seed, own_seed.policy_gradient(**change, **long))

    assert found["path"] == path
    assert "'small' has a context length of 300 tokens" in found["message"]
    assert "301" in found["message"]
    assert problems(own_api, own_seed, own_seed.policy_gradient(**change, **fits)) == []


def test_a_sets_own_limit_counts_for_the_window(
    own_api: TestClient, own_seed: Seed, database: Database
) -> None:
    add_small_model(database)
    config = own_seed.policy_gradient(
        reference={"id": "model_small"},
        rollout={"max_prompt_tokens": 100, "max_new_tokens": 100},
    )
    ood = {"name": "ood", "prompts": config["prompts"], "split": "train"}

    (found,) = problems(
        own_api, own_seed, config | {"evaluation_sets": [ood | {"max_new_tokens": 201}]}
    )

    assert "301" in found["message"]
    assert "of its evaluation sets" in found["advice"]
    fits = ood | {"max_new_tokens": 200}
    assert problems(own_api, own_seed, config | {"evaluation_sets": [fits]}) == []


def test_what_is_seldom_meant_is_warned_of_and_allowed(api: TestClient, seed: Seed) -> None:
    config = seed.policy_gradient(kl={"place": "loss"}, rollout={"top_p": 0.9})

    found = problems(api, seed, config)

    assert [(one["path"], one["level"]) for one in found] == [
        ("kl.estimator", "warning"),
        ("rollout.top_p", "warning"),
    ]
    assert "gradient is 0 on average" in found[0]["message"]
    assert found[0]["advice"] == "Use k2 in the loss, or k1 in the reward."


def test_gpus_that_would_stand_idle_are_warned_of_in_every_method(
    api: TestClient, seed: Seed
) -> None:
    for config in (seed.sft(), seed.policy_gradient()):
        assert problems(api, seed, merged(config, {"resources": {"gpus": 1}})) == []

        (found,) = problems(api, seed, merged(config, {"resources": {"gpus": 4}}))

        assert (found["path"], found["level"]) == ("resources.gpus", "warning")
        assert "is 4, but a trainer computes on one GPU" in found["message"]


def refer(_name: str, wants: PointsTo) -> dict[str, str]:
    """A model of the hub, or the seed's snapshot of the kind."""
    return {"id": f"snapshot_{wants.kind}"} if wants.snapshot else HUB


def test_every_preset_makes_a_valid_run(api: TestClient, seed: Seed) -> None:
    terms = [{"kind": "model", "model": {"id": seed.reward_model}}]
    for method, presets in PRESETS.items():
        least = least_config(method, refer)
        if "reward" in least:
            least["reward"] = {"terms": terms}
        for preset in presets:
            config = merged(least, preset.config)
            assert problems(api, seed, config) == [], preset.name


def leaves(config: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Each setting by its dotted path."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        nested = isinstance(value, Mapping)
        found |= leaves(value, f"{before}{key}.") if nested else {before + key: value}
    return found


def test_every_setting_of_a_preset_has_one_source() -> None:
    for preset in (preset for several in PRESETS.values() for preset in several):
        told = [path for source in preset.sources for path in source.settings]
        assert len(told) == len(set(told)), preset.name
        given = {path: value for one in preset.sources for path, value in one.settings.items()}
        assert given == leaves(preset.config), preset.name


def test_two_sources_of_a_setting_are_refused() -> None:
    with pytest.raises(ValueError, match=r"two sources give optim\.lr"):
        sourced("x", "", {"a": {"optim": {"lr": 1}}, "b": {"optim": {"lr": 1}}})


# Of each paper what it says, read there; `minibatch_size` None is one update per rollout.
OF_PAPERS: Mapping[str, Mapping[str, Any]] = {
    "REINFORCE++ (settings of the paper)": {
        "estimator": "reinforce_pp",
        "rollout.prompts_per_step": 32,
        "rollout.samples_per_prompt": 8,
        "optim.lr": 5e-7,
        "clip.low": 0.2,
        "clip.high": 0.2,
        "kl.coef": 1e-3,
        "kl.estimator": "k1",
        "kl.place": "reward",
    },
    "REINFORCE++-baseline (settings of the paper)": {
        "estimator": "reinforce_pp_baseline",
        "rollout.prompts_per_step": 32,
        "rollout.samples_per_prompt": 8,
        "optim.lr": 5e-7,
        "clip.low": 0.2,
        "clip.high": 0.2,
        "kl.coef": 1e-3,
        "kl.estimator": "k2",
        "kl.place": "loss",
    },
    # Section 4.2: batches of 1,024 responses, 64 to a question, a single update.
    "GRPO (DeepSeekMath)": {
        "estimator": "grpo",
        "rollout.prompts_per_step": 1024 // 64,
        "rollout.samples_per_prompt": 64,
        "rollout.max_new_tokens": 1024,
        "optim.lr": 1e-6,
        "kl.coef": 0.04,
        "kl.estimator": "k3",
        "kl.place": "loss",
        "loss_average": "sequence",
        "epochs_per_rollout": 1,
        "minibatch_size": None,
    },
    "Dr. GRPO (settings of the paper)": {
        "estimator": "dr_grpo",
        "kl.coef": 0.0,
        "loss_average": "constant",
    },
    # Section 4.1: 16 updates of 512 responses; 16,384 tokens and 4,096 more as a soft buffer.
    "DAPO (settings of the paper)": {
        "estimator": "grpo",
        "rollout.prompts_per_step": 512,
        "rollout.samples_per_prompt": 16,
        "minibatch_size": 512 * 16 // 16,
        "rollout.max_new_tokens": 16_384 + 4096,
        "overlong": "penalize",
        "overlong_penalty.buffer_tokens": 4096,
        "optim.lr": 1e-6,
        "optim.schedule": "constant",
        "optim.warmup_ratio": 20 / 500,
        "clip.low": 0.2,
        "clip.high": 0.28,
        "kl.coef": 0.0,
        "loss_average": "token",
    },
}


@pytest.mark.parametrize("name", OF_PAPERS)
def test_a_preset_has_the_values_of_its_paper(name: str) -> None:
    """And attributes nothing else to it."""
    [preset] = [one for one in PRESETS[Method.POLICY_GRADIENT] if one.name == name]
    [paper] = [one for one in preset.sources if "arXiv" in one.source]
    assert paper.settings == OF_PAPERS[name]


def test_openrlhf_compat_leaves_the_scores_of_a_reward_model_as_they_are(seed: Seed) -> None:
    """What `auto` would normalize by its held-out statistics OpenRLHF does not, unless asked to."""
    terms = [{"kind": "model", "model": HUB}]
    given = {"method": "policy_gradient", **seed.policy_gradient()} | {"reward": {"terms": terms}}
    presets = {preset.name: preset.config for preset in PRESETS[Method.POLICY_GRADIENT]}

    config = parse_run_config(merged(given, presets["REINFORCE++-baseline (order of OpenRLHF)"]))

    assert isinstance(config, PolicyGradientConfig)
    assert config.reward.normalize == "none"
    assert config.reward.clip_after_baseline


@pytest.mark.parametrize("method", [m for m, spec in METHODS.items() if not spec.logs_samples])
def test_a_method_that_samples_nothing_says_that_it_logs_no_samples(method: str) -> None:
    config = least_config(method, lambda _name, _wants: HUB) | {
        "log": {"probes": 2, "tokens": "all"}
    }
    parsed = parse_run_config(config)

    assert [one.path for one in parsed.cautions()] == ["log.tokens", "log.probes"]
    first = parsed.cautions()[0]
    assert first.rule == "ignored_setting"
    said = "is all, but methods that train on records log no samples and do not use it"
    assert first.message == said
    assert "log" not in type(parsed).model_json_schema()["properties"]
    assert parse_run_config(parsed.model_dump(mode="json")) == parsed


def test_the_form_of_a_policy_has_no_batches_of_records() -> None:
    """The rollout says how many responses there are; configs that were stored are still read."""
    config = least_config("policy_gradient", lambda _name, _wants: HUB)
    schema = type(parse_run_config(config)).model_json_schema()
    stored = config | {"optim": {"lr": 1e-5, "batch_size": None, "epochs": None}}

    assert not {"batch_size", "epochs"} & set(schema["$defs"]["PolicyOptim"]["properties"])
    assert "Optim" not in schema["$defs"]
    assert parse_run_config(stored).optim.lr == 1e-5


@pytest.mark.parametrize("method", ["generate", "evaluate"])
def test_a_method_that_trains_nothing_says_what_it_ignores(method: str) -> None:
    """Configs that were stored with such settings are still read."""
    config: dict[str, Any] = {
        "method": method, "model": {"hub_id": "a/b"}, "prompts": {"id": "snapshot_x"},
        "rollout": {"samples_per_prompt": 4}, "optim": {"lr": 1e-3, "micro_batch_tokens": 128},
        "lora": {}, "eval_every": 5, "log": {"samples_per_step": 3, "probes": 2},
    }  # fmt: skip
    if method == "evaluate":
        config["reward"] = {"terms": [{"kind": "finished"}]}
    parsed = parse_run_config(config)
    assert {one.path for one in parsed.cautions()} == {
        "rollout.samples_per_prompt", "optim.lr", "lora", "eval_every", "log.probes",
    }  # fmt: skip
    first = parsed.cautions()[0]
    assert first.message == "is 4, but methods that only sample do not use it"
    assert first.advice == "set `samples_per_prompt` beside `rollout` instead"
    assert parse_run_config(parsed.model_dump(mode="json")) == parsed

    schema = type(parsed).model_json_schema()
    assert not {"lora", "eval_every", "checkpoint_every"} & set(schema["properties"])
    assert "samples_per_prompt" in schema["properties"]
    assert "samples_per_prompt" not in schema["$defs"]["SamplerRollout"]["properties"]
    assert list(schema["$defs"]["SamplerOptim"]["properties"]) == ["micro_batch_tokens"]
    assert list(schema["$defs"]["SamplerLog"]["properties"]) == ["samples_per_step"]
