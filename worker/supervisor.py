"""One run's life on this worker: prepare, spawn, watch, stop, finish.

Called by `worker.tasks` with a run that was claimed. Every write is fenced by owner and attempt; a
supervisor whose run was given away kills its trainer and leaves without a word in the store.
"""

import logging
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from sqlalchemy.orm import Session

from backend.domain.run_state import state_asked_for
from backend.errors import ServiceError
from backend.machine.wall_clock import now
from backend.schemas.run_directory.events import ExitReport
from backend.schemas.vocabulary import FailureCause, RunState, StopReason
from backend.store.metrics import verdicts
from backend.store.runs import runs, supervision
from backend.store.runs.failures import Evidence
from backend.store.runs.supervision import GivenAway
from backend.store.tables.runs import Run
from worker.cancellation import Cancellation
from worker.heartbeat import Heartbeat
from worker.outage import OUTAGES, delay_s, patiently
from worker.process import attempt_tags
from worker.process.attempt_tags import AttemptTag
from worker.process.system_sampler import SystemSampler
from worker.process.system_usage import SystemUsage
from worker.process.trainer_process import Ended, TrainerProcess, environment
from worker.run_directory import log_reading, post_mortem
from worker.run_directory.checkpoint_sharing import CheckpointSharing
from worker.run_directory.disk_errors import disk_errors
from worker.run_directory.exit_reading import Reading, read_end, read_report
from worker.run_directory.failures import Failure, RunFailed, not_begun
from worker.run_directory.intake import Intake
from worker.run_directory.layout import RunDirectory
from worker.run_directory.preparation import CalledOff, Preparation
from worker.run_directory.relay import Relay
from worker.worker_process import Claimed, WorkerProcess

log = logging.getLogger("podium.worker")

# Between two looks at the event file; a person watches the curve.
_LONGEST_TICK_S = 0.25
# How often a trainer is started for which the machine has no process, memory or descriptor: for
# about a minute, in which another run would fare no better here.
_START_TRIES = 12
_READ_LOGS = "Read the log of the run and of its worker, then retry the run."


class Supervisor:
    """One attempt at one run.

    `start_trainer` and `make_heartbeat` start what goes on beside it: a process and a thread.
    """

    start_trainer: type[TrainerProcess] = TrainerProcess
    make_heartbeat: type[Heartbeat] = Heartbeat

    def __init__(self, this_worker: WorkerProcess, claimed: Claimed) -> None:
        run, claim, self._lease, proven_at = claimed
        self._this_worker = this_worker
        self._settings = this_worker.settings
        self._run = run
        self._claim = claim
        self._directory = RunDirectory(self._settings.runs_dir, run.id)
        self._logs = self._directory.attempt(claim.attempt)
        self._tag = AttemptTag(self._directory.path.resolve(), claim.attempt)
        self._relay = Relay(this_worker.database, claim, self._directory, this_worker.group)
        self._relay_failures = 0
        self._next_relay = 0.0
        self._process: TrainerProcess | None = None
        self._own_reason: StopReason | None = None
        self._heartbeat = self.make_heartbeat(
            this_worker.database,
            claim,
            self._settings.beat_s,
            proven_at=proven_at,
            clock=this_worker.clock,
            on_beat=self._pass_beat_on,
        )
        self._cancellation = Cancellation(this_worker.wait, self._leave_if_called_off)
        self._first_step = 0
        self._ran_s = 0.0
        self._fields = {"run_id": run.id, "attempt": claim.attempt}

    def see_through(self) -> None:
        """Bring the run to a state that needs no supervisor, or leave if it was given away.

        Raises an outage of the store only if the worker's grace ends before the store is back.
        """
        log.info("run.claimed", extra=self._fields)
        with self._heartbeat:
            try:
                self._hold_directory()
            except GivenAway:
                log.warning("run.given_away", extra=self._fields)
            except RunFailed as failed:
                self._fail(failed)
            except OSError as error:
                if self._process is not None:
                    raise
                self._fail(RunFailed(not_begun(error), may_pass=True))

    def _hold_directory(self) -> None:
        lock_fd = self._wait_for_lock()
        if lock_fd is None:
            log.warning("run.not_started", extra=self._fields)
            self._leave()
            return
        try:
            self._prepare()
            self._await_proof()
            self._leave_if_called_off()
            with self._sharing():
                ended = self._train(lock_fd)
                self._carry_the_rest()
            self._finish(ended)
        except CalledOff:
            self._leave()
        finally:
            os.close(lock_fd)

    def _wait_for_lock(self) -> int | None:
        """The lock on the run directory.

        None if a trainer still has it after the stop grace, or the run is to stop meanwhile.
        """
        deadline = self._this_worker.clock() + self._settings.stop_grace_s
        while (lock_fd := self._try_lock()) is None:
            self._leave_if_lost()
            is_over = self._this_worker.clock() > deadline or not self._this_worker.wait(
                _LONGEST_TICK_S
            )
            if is_over or self._heartbeat.control.reason:
                return None
        return lock_fd

    def _try_lock(self) -> int | None:
        # A worker that died together with its guard has left a trainer that nobody ends.
        if self._tag.attempt > 1 and attempt_tags.kill(self._is_of_earlier_attempt):
            return None
        with disk_errors():
            return self._directory.try_lock()

    def _is_of_earlier_attempt(self, tag: AttemptTag) -> bool:
        return tag.run_dir == self._tag.run_dir and tag.attempt < self._tag.attempt

    def _await_proof(self) -> None:
        """Start nothing on an ownership whose proof is about to expire, or is older than that."""
        pause_after_s, beat_s = self._this_worker.pause_after_s, self._settings.beat_s
        while pause_after_s and self._proof_age_s() > max(pause_after_s - 2 * beat_s, 2 * beat_s):
            self._leave_if_lost()
            if not self._this_worker.wait(min(_LONGEST_TICK_S, beat_s)):
                raise GivenAway(self._claim.run_id)

    def _proof_age_s(self) -> float:
        return self._this_worker.clock() - self._heartbeat.proven_at

    def _leave(self) -> None:
        """End without a trainer: move the run to what was asked for, or else queue it again."""

        def move(session: Session) -> None:
            run = supervision.hold(session, self._claim)
            reason = _reason(run)
            to = RunState.QUEUED if reason is None else state_asked_for(reason)
            runs.transition(session, run, to, at=now())

        self._this_worker.write(move)
        if self._this_worker.is_draining.is_set():
            self._this_worker.wake(self._claim.run_id)

    def _prepare(self) -> None:
        preparation = Preparation(
            self._this_worker, self._claim, self._run, self._directory, self._cancellation
        )
        preparation.find_progress()
        self._first_step = max(self._directory.checkpoint_steps(), default=0)
        patiently(self._relay.carry_logs_left_behind, self._this_worker.wait)
        preparation.write_inputs()

    def _sharing(self) -> AbstractContextManager[object]:
        if self._settings.artifact_url is None:
            return nullcontext()
        return CheckpointSharing(
            self._this_worker.database,
            self._this_worker.artifacts,
            self._claim,
            self._directory,
            self._this_worker.wait,
        )

    def _train(self, lock_fd: int) -> Ended:
        self._leave_if_lost()
        self._process = process = patiently(
            lambda: self._start(lock_fd),
            self._cancellation.wait,
            away=(OSError,),
            tries=_START_TRIES,
        )
        try:
            with self._sampling(process):
                ended = self._watch(process)
        finally:
            process.close()
        log.info("run.trainer_ended", extra=self._fields | {"code": ended.code})
        return ended

    def _sampling(self, process: TrainerProcess) -> SystemSampler:
        this_worker = self._this_worker
        return SystemSampler(
            SystemUsage(self._directory.path, self._lease.gpus, this_worker.gpus),
            self._settings.system_metrics_s,
            pid=lambda: process.pid,
            on_sample=self._relay.system.add,
        )

    def _start(self, lock_fd: int) -> TrainerProcess:
        command = [*self._this_worker.trainer_command, str(self._directory.config)]
        with disk_errors():
            return self.start_trainer(
                [*command, "--run-dir", str(self._directory.path)],
                tag=self._tag,
                logs=self._logs,
                lock_fd=lock_fd,
                environment=environment(
                    self._lease.visible_devices, min_free_gb=self._settings.min_free_gb
                ),
                pause_after_s=self._this_worker.pause_after_s,
                proven_at=self._heartbeat.proven_at,
            )

    def _watch(self, process: TrainerProcess) -> Ended:
        tick_s = min(_LONGEST_TICK_S, self._settings.beat_s)
        clock = self._this_worker.clock
        started = clock()
        asked_at: float | None = None
        # At the same moments as all other runs here, whose lines share a transaction with these.
        while (ended := process.wait(tick_s - clock() % tick_s)) is None:
            self._leave_if_lost()
            self._directory.pin(self._heartbeat.control.pinned)
            self._carry()
            self._mind_clock_and_drain(clock() - started)
            if asked_at is None and (self._own_reason or self._heartbeat.control.reason):
                process.ask_to_stop()
                asked_at = clock()
            elif asked_at is not None and clock() - asked_at > self._settings.stop_grace_s:
                process.kill()
        self._ran_s = clock() - started
        return ended

    def _pass_beat_on(self, proven_at: float) -> None:
        if self._process is not None:
            self._process.beat(proven_at)

    def _leave_if_lost(self) -> None:
        if self._heartbeat.is_lost:
            raise GivenAway(self._claim.run_id)

    def _leave_if_called_off(self) -> None:
        self._leave_if_lost()
        if self._this_worker.is_draining.is_set() or self._heartbeat.control.reason:
            raise CalledOff

    def _leave_if_unwanted(self) -> None:
        """Stop waiting for a bucket if somebody stops the run or the worker's grace is over.

        Raises CalledOff.
        """
        self._leave_if_lost()
        is_stopped = self._heartbeat.control.reason in (StopReason.CANCEL, StopReason.PAUSE)
        if is_stopped or not self._this_worker.wait(0.0):
            raise CalledOff

    def _mind_clock_and_drain(self, ran_s: float) -> None:
        """Stop for reasons of our own: the worker shuts down, or the run takes too long."""
        timeout_s = (self._run.config.get("resources") or {}).get("timeout_s")
        if self._own_reason is not None:
            return
        if self._this_worker.is_draining.is_set():
            self._own_reason = StopReason.DRAIN
        elif timeout_s is not None and ran_s > timeout_s:
            self._own_reason = StopReason.TIMEOUT
        else:
            return
        try:
            with self._this_worker.database.write() as session:
                supervision.ask_to_stop(session, self._claim, self._own_reason, at=now())
        except OUTAGES as error:
            # The trainer is asked all the same; `_finish` says why once the store is back.
            log.warning("store.away", extra=self._fields | {"error": str(error)[:300]})

    def _carry(self) -> None:
        """Relay what there is; a store that is away only delays it."""
        if self._this_worker.clock() < self._next_relay:
            return
        try:
            self._relay.carry()
            self._relay_failures = 0
        except OUTAGES as error:
            self._next_relay = self._this_worker.clock() + delay_s(self._relay_failures)
            self._relay_failures += 1
            log.warning("run.relay_waits", extra=self._fields | {"error": str(error)[:300]})

    def _carry_the_rest(self) -> None:
        while patiently(lambda: self._relay.carry(to_the_end=True), self._this_worker.wait):
            self._leave_if_lost()

    def _finish(self, ended: Ended) -> None:
        report = read_report(self._directory.exit_report, self._claim.attempt)
        intake: Intake | None = None
        cancellation = Cancellation(
            self._this_worker.wait, self._leave_if_lost, check_waiting=self._leave_if_unwanted
        )
        if self._read(ended, report, None).state == RunState.SUCCEEDED:
            intake = Intake(
                self._this_worker.database, self._this_worker.artifacts, self._directory, self._run
            )
            intake.collect(cancellation)
        evidence = post_mortem.evidence(
            self._logs,
            ended,
            ran_s=self._ran_s,
            gpu_peak_bytes=self._this_worker.devices.peak_bytes(self._lease),
            directory=self._directory,
        )

        def move(session: Session) -> None:
            run = supervision.hold(session, self._claim)
            if intake is not None:
                intake.keep(session, run)
            reason = _reason(run) or self._own_reason
            reading = self._read(ended, report, reason)
            _move(session, run, self._advised(run, reading, evidence), reason, evidence)

        try:
            if intake is None:
                self._this_worker.write(move)
            else:
                intake.bring(cancellation, partial(self._this_worker.write, move))
        except ServiceError as error:
            advice = error.advice or _READ_LOGS
            raise RunFailed(Failure(FailureCause.OUTPUT, error.detail, advice)) from error
        if self._own_reason == StopReason.DRAIN:
            self._this_worker.wake(self._claim.run_id)
        self._judge()

    def _judge(self) -> None:
        """Keep what the metrics say of the run, if it has ended; where that fails, the sweeper does
        it later."""
        try:
            with self._this_worker.database.write() as session:
                verdicts.keep(session, self._claim.run_id)
        except Exception:
            log.exception("run.not_judged", extra=self._fields)

    def _read(self, ended: Ended, report: ExitReport | None, reason: StopReason | None) -> Reading:
        return read_end(ended, report, reason, log_reading.tail(self._logs / "stderr.log"))

    def _advised(self, run: Run, reading: Reading, evidence: Evidence) -> Reading:
        if reading.failure is None:
            return reading
        facts = post_mortem.facts(run, self._first_step, self._ran_s, evidence, self._directory)
        return replace(reading, failure=reading.failure.advised(run.config, facts))

    def _fail(self, failed: RunFailed) -> None:
        log.info("run.failed", extra=self._fields | {"cause": failed.failure.cause})
        error = failed.failure.as_error()

        def move(session: Session) -> None:
            run = supervision.hold(session, self._claim)
            if failed.may_pass and run.state == RunState.RUNNING:
                supervision.crash(session, run, error, at=now())
            else:
                runs.transition(session, run, RunState.FAILED, at=now(), error=error)

        try:
            self._this_worker.write(move)
        except GivenAway:
            log.warning("run.given_away", extra=self._fields)


def _move(
    session: Session, run: Run, reading: Reading, reason: StopReason | None, evidence: Evidence
) -> None:
    error = reading.failure.as_error() if reading.failure else None
    at, code = now(), reading.exit_code
    if error is not None and reading.is_unexplained:
        supervision.crash(session, run, error, at=at, exit_code=code, evidence=evidence)
        return
    is_asked_for = reason is not None and reading.state == state_asked_for(reason)
    kept = reason if is_asked_for else None
    runs.transition(
        session,
        run,
        reading.state,
        at=at,
        reason=kept,
        error=error,
        exit_code=code,
        evidence=evidence,
    )


def _reason(run: Run) -> StopReason | None:
    """Why the store says that the run is to stop, if it does."""
    is_stopping = run.state == RunState.STOPPING and run.stop_reason is not None
    return StopReason(run.stop_reason) if is_stopping and run.stop_reason else None
