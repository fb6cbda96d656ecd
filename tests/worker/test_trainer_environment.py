"""What a trainer sees of the environment of its worker."""

import sys
from pathlib import Path

import pytest

from tests import processes
from worker.process.trainer_process import environment


def test_a_trainer_finds_no_token_for_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("hf_of_the_operator")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_operator")
    ask = [sys.executable, "-c", "import huggingface_hub as hub; print(hub.get_token())"]

    here = processes.run(ask, {"HF_HOME": str(tmp_path)})
    there = processes.run(ask, environment(""))

    assert here.stdout.strip() == "hf_of_the_operator"
    assert there.stdout.strip() == "None", there.stderr


def test_a_trainer_sees_no_setting_that_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_DATABASE_URL", "postgresql://podium:secret@db/podium")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    assert "secret" not in "".join(environment("").values())
