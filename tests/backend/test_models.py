"""The registry: which folders it takes, what it reads from them, what it says of their descent."""

import json
import pickle
import shutil
import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import InvalidInput
from backend.model_files import confined
from backend.schemas.models import ModelFacts
from backend.schemas.projects.project import ProjectBody
from backend.schemas.vocabulary import ModelKind, Role
from backend.store.data import projects
from backend.store.db import Database
from backend.store.models import registry
from backend.store.paging import Page
from backend.store.people import users
from backend.store.tables.data import Snapshot
from backend.store.tables.models import Model
from backend.store.tables.runs import Run
from tests.backend.conftest import Service
from tests.backend.test_gguf_header import entry, header, string, write_gguf
from tests.plans import sent_to

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def write_safetensors(path: Path, tensors: dict[str, tuple[str, list[int]]]) -> None:
    """A safetensors file of zeros."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, shape) in tensors.items():
        size = 4 if dtype == "F32" else 2
        for n in shape:
            size *= n
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))


@pytest.fixture
def folder(light_service: Service) -> Path:
    """A small model under the data directory."""
    made = light_service.data_dir / "models" / "tiny"
    made.mkdir(parents=True)
    config = {"architectures": ["LlamaForCausalLM"], "vocab_size": 64,
              "max_position_embeddings": 128}  # fmt: skip
    (made / "config.json").write_text(json.dumps(config))
    (made / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    write_safetensors(made / "model.safetensors", {"a": ("BF16", [64, 8]), "b": ("F32", [8])})
    return made


def register(service: Service, **source: str) -> Any:
    """Register; returns the answer."""
    return service.client().post("/models", json={"name": "m", "source": source})


def test_facts_come_from_json_and_headers(light_service: Service, folder: Path) -> None:
    answer = register(light_service, path=str(folder))
    assert answer.status_code == 201, answer.text
    facts = answer.json()["facts"]
    assert len(facts.pop("chat_template_sha256")) == 64
    assert facts.pop("size_bytes") == (folder / "model.safetensors").stat().st_size
    assert facts == {
        "architecture": "LlamaForCausalLM", "vocab_size": 64, "context_length": 128,
        "dtype": "bfloat16", "parameters": 520,
    }  # fmt: skip
    assert answer.json()["source"] == {"path": str(folder)}
    same = register(light_service, path="models/tiny").json()
    assert same["sha256"] == answer.json()["sha256"]


def test_a_model_too_large_to_read_at_once_is_taken_without_a_hash(
    light_service: Service, folder: Path
) -> None:
    with (folder / "model.safetensors").open("r+b") as weights:
        weights.truncate(3 * 2**30)  # A hole: nothing is on the disk, and all of it can be read.

    answer = register(light_service, path=str(folder))

    assert answer.status_code == 201, answer.text
    assert answer.json()["sha256"] is None
    assert answer.json()["facts"]["size_bytes"] == 3 * 2**30


@pytest.mark.parametrize(
    "path",
    [
        "/etc", "../../etc/passwd", "models/../../../etc", "/proc/self/environ", "//etc/passwd",
        "models/tiny/../../../x", "..", "/", "C:\\Windows", "\\\\host\\share", "models/%2e%2e",
        "models/missing", "models/link", "~root", "file:///etc/passwd",
        pytest.param("models/" + "a" * 300, id="a long name"),
        pytest.param("models/" + "a/" * 2040, id="a long path"),
    ],
)  # fmt: skip
def test_a_path_out_of_the_roots_or_to_nothing_is_refused(
    light_service: Service, folder: Path, path: str
) -> None:
    (folder.parent / "link").symlink_to("/etc")
    refused = register(light_service, path=path)
    assert refused.status_code == 422
    assert refused.json()["advice"]
    assert light_service.client().get("/models").json()["items"] == []


@pytest.mark.parametrize("made", ["artifacts/runs/run_x/model-1", "runs/run_x/attempt-1/model"])
def test_what_a_run_has_made_is_no_path_of_a_model(
    light_service: Service, folder: Path, made: str
) -> None:
    """It belongs to the run's project: who may not see that could register it by its address."""
    output = folder.parents[1] / made
    shutil.copytree(folder, output)
    (folder.parent / "link").symlink_to(output)
    for path in (str(output), f"models/../{made}", "models/link"):
        refused = register(light_service, path=path)
        assert refused.status_code == 422
        assert "outside the folders that models may be loaded from" in refused.json()["detail"]
    assert light_service.client().get("/models").json()["items"] == []


def test_a_file_that_links_out_of_the_roots_is_refused(
    light_service: Service, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.safetensors"
    write_safetensors(outside, {"a": ("F32", [1])})
    (folder / "more.safetensors").symlink_to(outside)
    assert (
        "links to a file outside the folders"
        in register(light_service, path=str(folder)).json()["detail"]
    )


def test_pickled_weights_are_refused_and_never_loaded(
    light_service: Service, folder: Path, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"

    class Bomb:
        def __reduce__(self) -> tuple[Any, tuple[str]]:
            return Path.touch, (str(canary),)

    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(), protocol=0))
    refused = register(light_service, path=str(folder))
    assert refused.json()["detail"].startswith("pytorch_model.bin is pickled, and loading it can")
    assert "safetensors" in refused.json()["advice"]
    assert not canary.exists()


def safetensors_header(tensor: dict[str, Any]) -> bytes:
    """A file that names this one tensor and holds nothing of it."""
    text = json.dumps({"a": tensor}).encode()
    return struct.pack("<Q", len(text)) + text


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff" * 8, struct.pack("<Q", 4) + b"oops", struct.pack("<Q", 9) + b'{"a": 1} ',
     struct.pack("<Q", 60_000) + b"[" * 60_000,
     safetensors_header({"shape": [1]}), safetensors_header({"shape": [1], "dtype": ["F32"]}),
     safetensors_header({"shape": [-1], "dtype": "F32"}),
     safetensors_header({"shape": [10**4000] * 2, "dtype": "F32"}),
     safetensors_header({"shape": [2] * 65, "dtype": "F32"}),
     safetensors_header({"shape": [2**62] * 64, "dtype": "F32"})],
)  # fmt: skip
def test_a_broken_safetensors_header_is_a_clear_error(
    light_service: Service, folder: Path, content: bytes
) -> None:
    (folder / "model.safetensors").write_bytes(content)
    refused = register(light_service, path=str(folder))
    assert refused.status_code == 422
    assert "model.safetensors" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("config", "architecture"),
    [
        ({"architectures": ["Llama\0ForCausalLM"]}, None),
        ({"architectures": ["\ud800"]}, None),
        ({"architectures": ["L" * 101]}, None),
        ({"architectures": {"0": "L"}}, None),
        ({"architectures": 7}, None),
        ({"architectures": ["L" * 100]}, "L" * 100),
    ],
)
def test_what_is_no_name_is_not_recorded_as_an_architecture(
    service: Service, config: dict[str, Any], architecture: str | None
) -> None:
    made = service.data_dir / "models"
    made.mkdir()
    (made / "config.json").write_text(json.dumps(config))
    (made / "tokenizer_config.json").write_text(json.dumps({"chat_template": "\ud800"}))
    write_safetensors(made / "model.safetensors", {"a": ("N\0", [2])})

    answer = register(service, path="models")

    assert answer.status_code == 201, answer.text
    facts = answer.json()["facts"]
    assert (facts["architecture"], facts["dtype"]) == (architecture, None)
    assert len(facts["chat_template_sha256"]) == 64


def test_a_name_in_a_gguf_header_that_is_none_is_not_recorded(service: Service) -> None:
    (service.data_dir / "models").mkdir()
    name = entry(b"general.architecture", 8, string(b"lla\0ma"))
    (service.data_dir / "models" / "m.gguf").write_bytes(header(name))

    answer = register(service, path="models/m.gguf")

    assert answer.status_code == 201, answer.text
    assert answer.json()["facts"]["architecture"] is None


def test_one_gguf_file_is_a_model_and_two_are_a_question(
    light_service: Service, folder: Path
) -> None:
    (folder / "model.safetensors").unlink()
    write_gguf(folder / "a.gguf")
    for path in (folder, folder / "a.gguf"):
        registered = register(light_service, path=str(path))
        assert registered.status_code == 201
        assert registered.json()["source"] == {"path": str(folder / "a.gguf")}
    write_gguf(folder / "b.gguf")
    assert "2 GGUF files" in register(light_service, path=str(folder)).json()["detail"]


def test_a_hub_id_is_kept_and_a_source_is_one_thing(light_service: Service) -> None:
    kept = register(light_service, hub_id="owner/name").json()
    assert kept["source"] == {"hub_id": "owner/name"}
    assert register(light_service).status_code == 422
    assert register(light_service, hub_id="../../x").status_code == 422
    assert register(light_service, hub_id="a/b", path="x").status_code == 422


@pytest.mark.parametrize(
    ("kind", "method"),
    [("reward_model", "reward_model"), ("process_model", "process_reward_model")],
)
def test_a_reward_model_is_the_output_of_a_run(
    light_service: Service, folder: Path, kind: str, method: str
) -> None:
    """Another one would fail a run after its policy was loaded: only this head is read."""

    def answer(**source: str) -> Any:
        body = {"name": "m", "kind": kind, "source": source}
        return light_service.client().post("/models", json=body)

    for source, why in (
        ({"path": str(folder)}, "has no reward_model.json"),
        # Nobody has looked at the hub.
        ({"hub_id": "owner/name"}, "cannot come from a hub; found the hub_id owner/name"),
    ):
        refused = answer(**source)
        assert refused.status_code == 422, refused.text
        assert why in refused.json()["detail"]
        assert refused.json()["advice"] == (
            f"Train one with the method {method}, or register it as a language model (API: "
            "`causal_lm`) to start from it."
        )
    card = folder / "reward_model.json"
    card.write_text(json.dumps({"kind": "another"}))
    assert "says that this is the output of another" in answer(path=str(folder)).text
    card.write_text(json.dumps({"kind": method, "format": 1}))
    assert answer(path=str(folder)).status_code == 201
    assert "outside the folders" in answer(path="/etc").text


@pytest.mark.parametrize(
    ("kind", "said", "advice"),
    [
        ("reward_model", "process_reward_model", "a process reward model (API: `process_model`)."),
        ("process_model", "reward_model", "a reward model (API: `reward_model`)."),
    ],
)
def test_a_reward_model_of_the_other_kind_is_told_what_it_is(
    light_service: Service, folder: Path, kind: str, said: str, advice: str
) -> None:
    (folder / "reward_model.json").write_text(json.dumps({"kind": said, "format": 1}))
    body = {"name": "m", "kind": kind, "source": {"path": str(folder)}}

    refused = light_service.client().post("/models", json=body)

    assert refused.status_code == 422
    assert refused.json()["advice"] == f"Register it as {advice}"


def test_other_roots_can_be_named(tmp_path: Path) -> None:
    inside = tmp_path / "store" / "m"
    inside.mkdir(parents=True)
    roots = [tmp_path / "data", tmp_path / "store"]
    assert confined(str(inside), roots) == inside
    with pytest.raises(InvalidInput, match="outside"):
        confined(str(tmp_path / "store-evil"), roots)


def test_lineage_names_ancestors_reward_models_and_descendants(database: Database) -> None:
    with database.write() as session:
        admin = users.create(session, name="a", role=Role.ADMIN, at=NOW)
        project = projects.create(session, ProjectBody(name="P"), at=NOW)

        def run(name: str, config: dict[str, Any]) -> Run:
            made = Run(
                id=name, project_id=project.id, user_id=admin.id, name=name,
                method=config["method"], config=config, schema_version=1,
                tags=[], state="succeeded", environment={}, summary={}, created_at=NOW,
            )  # fmt: skip
            session.add(made)
            session.flush()
            return made

        def output(made: Run, kind: ModelKind) -> str:
            return registry.register_output(
                session, made, name=made.name, kind=kind, artifact=f"models/{made.id}",
                facts=ModelFacts(), sha256=None, step=None, at=NOW,
            ).id  # fmt: skip

        session.add(Snapshot(
            id="s3", created_at=NOW, project_id=project.id, name="questions", kind="prompts",
            sha256="0" * 64, heldout_fraction=0, seed=0, filter={}, counts={},
        ))  # fmt: skip
        base = registry.register(
            session, name="base", kind=ModelKind.CAUSAL_LM, source={"hub_id": "x"},
            facts=ModelFacts(), sha256=None, project_id=None, at=NOW,
        ).id  # fmt: skip
        sft = output(
            run("sft", {"method": "sft", "model": {"id": base}, "demonstrations": {"id": "s1"}}),
            ModelKind.CAUSAL_LM,
        )
        reward = output(
            run("rm", {
                "method": "reward_model", "model": {"id": sft}, "preferences": {"id": "s2"},
            }),
            ModelKind.REWARD_MODEL,
        )  # fmt: skip
        policy = output(
            run("policy", {
                "method": "policy_gradient", "model": {"id": sft}, "prompts": {"id": "s3"},
                "reward": {"terms": [{"kind": "model", "model": {"id": reward}}]},
            }),
            ModelKind.CAUSAL_LM,
        )  # fmt: skip
        caller = Caller(admin.id, "a", Role.ADMIN)
        lineage = {node.model_id: node for node in registry.get(session, policy, caller).lineage}
        up = registry.get(session, base, caller).lineage
        made, begun = (
            [one.id for one in registry.listing(session, caller, Page(), is_base=is_base).items]
            for is_base in (False, True)
        )

    assert (begun, made) == ([base], [policy, reward, sft])
    assert {one: node.relation for one, node in lineage.items()} == {
        base: "ancestor", sft: "ancestor", reward: "reward_model", policy: "self",
    }  # fmt: skip
    assert list(lineage) == [base, sft, reward, policy]
    assert lineage[policy].snapshot_ids == ["s3"]
    assert lineage[policy].snapshot_names == ["questions"]
    assert lineage[policy].reward_model_ids == [reward]
    assert [node.relation for node in up] == ["self", "descendant", "descendant", "descendant"]
    foreign = Caller("u", "u", Role.VIEWER)
    with database.read() as session:
        assert [node.model_id for node in registry.get(session, base, foreign).lineage] == [base]


def add_children(session: Session, n: int, parent_id: str | None, project_id: str | None) -> None:
    session.add_all(
        Model(
            id=f"model_{project_id}_{number}", created_at=NOW, name=f"child {number}",
            kind="causal_lm", source={"hub_id": "x"}, facts={}, parent_id=parent_id,
            project_id=project_id,
        )
        for number in range(n)
    )  # fmt: skip


def test_a_lineage_has_the_newest_500_that_the_caller_sees_in_few_statements(
    database: Database,
) -> None:
    with database.write() as session:
        seen, other = (projects.create(session, ProjectBody(name=name), at=NOW).id for name in "PQ")
        base = registry.register(
            session, name="base", kind=ModelKind.CAUSAL_LM, source={"hub_id": "x"},
            facts=ModelFacts(), sha256=None, project_id=None, at=NOW,
        ).id  # fmt: skip
        add_children(session, 600, base, seen)
        # Newer, and the caller's business in no way.
        add_children(session, 600, base, other)
    few = Caller("u", "u", Role.VIEWER, {seen: Role.VIEWER}).needing(Role.VIEWER)
    none = Caller("v", "v", Role.VIEWER).needing(Role.VIEWER)

    with sent_to(database) as sent, database.read() as session:
        found = registry.get(session, base, few)
    with database.read() as session:
        alone = registry.get(session, base, none)

    assert len(sent) < 10
    assert found.has_more_relatives
    assert [node.name for node in found.lineage] == [
        "base", *(f"child {number}" for number in range(101, 600)),
    ]  # fmt: skip
    assert (len(alone.lineage), alone.has_more_relatives) == (1, False)


def test_base_models_are_listed_alone(light_service: Service) -> None:
    api: TestClient = light_service.client()
    base = register(light_service, hub_id="a/b").json()["id"]

    def listed(is_base: str) -> list[str]:
        return [one["id"] for one in api.get(f"/models?is_base={is_base}").json()["items"]]

    assert (listed("true"), listed("false")) == ([base], [])


def test_archived_models_leave_the_list_and_come_back(light_service: Service) -> None:
    api: TestClient = light_service.client()
    made = register(light_service, hub_id="a/b").json()["id"]
    assert api.post(f"/models/{made}/archive").json()["archived_at"]
    assert api.get("/models").json()["items"] == []
    assert api.get(f"/models/{made}").status_code == 200
    assert api.post(f"/models/{made}/restore").json()["archived_at"] is None
    assert len(api.get("/models").json()["items"]) == 1
