"""A trainer without torch: it speaks the run directory and misbehaves on request.

Used by the tests, through PODIUM_TRAINER_COMMAND, wherever a real training would only cost time:

    python -m worker.process.fake_trainer [--steps N] [--exit CODE] ... CONFIG.json --run-dir DIR

A file `behaviour.json` in the run directory overrides the flags for that run: {"steps": 3}.
Standard library only. What it cannot do: train.
"""

import argparse
import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

_OUT_OF_MEMORY = 3
_STOPPED = 5


class FakeTrainer:
    """One attempt."""

    def __init__(self, run_dir: Path, config: dict[str, Any], how: argparse.Namespace) -> None:
        self._dir = run_dir
        self._config = config
        self._how = how
        self._attempt = int(os.environ.get("PODIUM_ATTEMPT", "1"))
        self._is_asked_to_stop = False
        (run_dir / "exit.json").unlink(missing_ok=True)
        _cut_torn_line(run_dir / "events.jsonl")
        self._events = (run_dir / "events.jsonl").open("ab", buffering=0)

    def train(self) -> NoReturn:
        """Go through the steps, then end as asked."""
        ignored = signal.SIG_IGN if self._how.deaf else self._on_sigterm
        signal.signal(signal.SIGTERM, ignored)
        for index in range(self._how.children):
            _start_child(is_daemon=index % 2 == 1)
        first = self._newest_checkpoint()
        self._emit(type="start", attempt=self._attempt, step=first, environment=_environment())
        for step in range(first + 1, self._how.steps + 1):
            self._step(step)
        while self._how.hang:
            self._stop_if_asked(self._how.steps)
            time.sleep(0.02)
        if self._how.hoard_mib:
            self._hoard()
        if self._how.exit == 0:
            self._write_output()
        self._end(self._how.exit)

    def _hoard(self) -> None:
        """Take memory until there is none left, or so much as was asked for."""
        kept = []
        try:
            for _ in range(self._how.hoard_mib):
                # Written to: pages that nobody touched are not there yet.
                kept.append(b"x" * 2**20)
        except MemoryError:
            kept.clear()
            self._end(_OUT_OF_MEMORY)

    def _step(self, step: int) -> None:
        time.sleep(self._how.step_s)
        self._stop_if_asked(step - 1)
        values = {"loss": math.exp(-step / 10), "reward/mean": 1 - math.exp(-step / 10)}
        if self._how.best_at and step >= self._how.best_at:
            values["eval/best_step"] = self._how.best_at
        self._emit(type="metric", step=step, time=time.time(), tokens=step * 10, values=values)
        self._emit(
            type="sample", step=step, prompt=f"prompt {step}", response="fine", scores={"r": 0.5}
        )
        self._emit(type="progress", step=step, steps=self._how.steps, phase="update", eta_s=1.0)
        sys.stdout.write(f"step {step} of {self._how.steps}\n" + "x" * self._how.noise_bytes)
        sys.stdout.flush()
        if self._how.checkpoint_every and step % self._how.checkpoint_every == 0:
            self._write_checkpoint(step)
            self._drop_checkpoints()
        if step == self._how.die_at and self._attempt <= self._how.die_attempts:
            self._events.write(b'{"type":"metric","step":')  # a torn line
            os.kill(os.getpid(), self._how.die_signal)

    def _on_sigterm(self, _number: int, _frame: FrameType | None) -> None:
        self._is_asked_to_stop = True

    def _stop_if_asked(self, step: int) -> None:
        if self._is_asked_to_stop:
            self._write_checkpoint(step)
            self._end(_STOPPED)

    def _end(self, code: int) -> NoReturn:
        if not self._how.silent:
            report = {"attempt": self._attempt, "code": code}
            report |= {"cause": self._how.cause, "message": self._how.message}
            _write_whole(self._dir / "exit.json", json.dumps(report).encode())
        sys.stderr.write(f"the fake trainer ends with {code}\n")
        sys.stderr.flush()
        # Its children are left behind on purpose.
        os._exit(code)

    def _emit(self, **line: Any) -> None:
        self._events.write(json.dumps(line).encode() + b"\n")

    def _newest_checkpoint(self) -> int:
        found = (self._dir / "checkpoints").glob("step-*/manifest.json")
        return max((int(path.parent.name.removeprefix("step-")) for path in found), default=0)

    def _write_checkpoint(self, step: int) -> None:
        path = f"checkpoints/step-{step}"
        if step > 0 and not (self._dir / path).is_dir():
            unfinished = self._dir / f"checkpoints/.step-{step}"
            unfinished.mkdir(parents=True, exist_ok=True)
            state = json.dumps({"step": step}).encode()
            (unfinished / "state.json").write_bytes(state)
            hashes = {"state.json": hashlib.sha256(state).hexdigest()}
            is_best = step == self._how.best_at
            manifest = {"format": 1, "step": step, "is_best": is_best, "sha256": hashes}
            (unfinished / "manifest.json").write_text(json.dumps(manifest))
            unfinished.rename(self._dir / path)
        if step > 0:
            self._emit(type="checkpoint", step=step, path=path, best=step == self._how.best_at)

    def _drop_checkpoints(self) -> None:
        """Keep the newest, the best and the pinned, as a real trainer does."""
        if not self._how.max_checkpoints:
            return
        pins = self._dir / "pins.json"
        kept = set(json.loads(pins.read_text())["steps"]) if pins.exists() else set()
        folders = (self._dir / "checkpoints").glob("step-*")
        steps = sorted(int(path.name.removeprefix("step-")) for path in folders)
        kept |= {*steps[-self._how.max_checkpoints :], self._how.best_at}
        for step in set(steps) - kept:
            shutil.rmtree(self._dir / f"checkpoints/step-{step}")

    def _write_output(self) -> None:
        output = self._dir / "output"
        output.mkdir(exist_ok=True)
        method = self._config["method"]
        if method == "generate":
            _write_whole(output / "responses.jsonl", self._responses())
        elif method == "evaluate":
            _write_whole(output / "responses.jsonl", self._responses())
            _write_whole(output / "results.json", json.dumps({"eval/reward": 0.5}).encode())
        else:
            _write_whole(output / "model.safetensors", _tiny_weights())
            _write_whole(output / "config.json", b'{"vocab_size": 4, "architectures": ["Fake"]}')
            _write_whole(output / "tokenizer.json", b"{}")

    def _responses(self) -> bytes:
        prompts = self._dir / self._config["prompts"]["path"]
        lines = []
        for prompt in map(json.loads, prompts.read_bytes().splitlines()):
            for index in range(self._config.get("samples_per_prompt", 1)):
                record = {
                    "prompt_id": prompt["prompt_id"],
                    "index": index,
                    "content": f"answer {index}",
                    "finish_reason": "stop",
                    "n_tokens": 2,
                    "logp_sum": -1.5,
                    "scores": {kind: float(index) for kind in self._reward_kinds()},
                }
                lines.append(json.dumps(record))
        return ("\n".join(lines) + "\n").encode()

    def _reward_kinds(self) -> list[str]:
        reward = self._config.get("reward") or []
        terms = reward["terms"] if isinstance(reward, dict) else reward
        return [term["kind"] for term in terms]


def _environment() -> dict[str, Any]:
    return {"fake": True, "visible_devices": os.environ.get("CUDA_VISIBLE_DEVICES")}


def _cut_torn_line(path: Path) -> None:
    data = path.read_bytes() if path.exists() else b""
    path.write_bytes(data[: data.rfind(b"\n") + 1])


def _start_child(*, is_daemon: bool) -> None:
    """A process that outlives its parent; a daemon also leaves its session."""
    nap = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    start = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {nap!r}])"
    code = start if is_daemon else nap
    subprocess.Popen([sys.executable, "-c", code], start_new_session=is_daemon)


def _write_whole(path: Path, data: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_bytes(data)
    unfinished.replace(path)


def _tiny_weights() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(8)


def main(arguments: list[str]) -> NoReturn:
    """Read flags and `behaviour.json`, then train."""
    parser = argparse.ArgumentParser(prog="worker.process.fake_trainer")
    parser.add_argument("--steps", type=int, default=5, help="steps to go through")
    parser.add_argument("--step-s", type=float, default=0.01, help="seconds a step takes")
    parser.add_argument("--exit", type=int, default=0, help="exit code in the end")
    parser.add_argument("--message", default=None, help="message of exit.json")
    parser.add_argument("--cause", default=None, help="cause of exit.json")
    parser.add_argument("--hoard-mib", type=int, default=0, help="MiB to take in the end")
    parser.add_argument("--die-signal", type=int, default=9, help="signal to die of")
    parser.add_argument("--silent", action="store_true", help="leave no exit.json")
    parser.add_argument("--hang", action="store_true", help="never end after the last step")
    parser.add_argument("--deaf", action="store_true", help="ignore SIGTERM")
    parser.add_argument("--children", type=int, default=0, help="processes to leave behind")
    parser.add_argument("--checkpoint-every", type=int, default=0, help="steps between them")
    parser.add_argument("--max-checkpoints", type=int, default=0, help="to keep; 0 = all")
    parser.add_argument("--best-at", type=int, default=0, help="step of the best evaluation")
    parser.add_argument("--die-at", type=int, default=0, help="SIGKILL itself after this step")
    parser.add_argument("--die-attempts", type=int, default=1, help="attempts that die")
    parser.add_argument("--noise-bytes", type=int, default=0, help="extra output per step")
    parser.add_argument("config", type=Path)
    parser.add_argument("--run-dir", type=Path, required=True)
    how = parser.parse_args(arguments)
    behaviour = how.run_dir / "behaviour.json"
    if behaviour.exists():
        vars(how).update(json.loads(behaviour.read_text()))
    FakeTrainer(how.run_dir, json.loads(how.config.read_text()), how).train()


if __name__ == "__main__":
    main(sys.argv[1:])
