"""The life of one request: admitted, read, worked, remembered; and nothing held in between.

    admit   one look, without a transaction (a stream: a read session):    401, 404, 403
            who sends it, may they, is the object theirs
    body    read up to the limit of the operation, then parsed and checked  413, 422
    work    the write turn: the caller is checked again, the endpoint runs, and the audit line and
            the answer under the Idempotency-Key are written with it; COMMIT
    answer  serialised and sent; the session is closed by then

Of a hurried operation, for which people wait all day, the write turn admits whoever has shown the
same credentials before; whoever is refused before that turn is admitted first all the same.

`backend.routes` makes every route pass through here. An endpoint that does several things in turn
(hash a password, wait for a job) asks for `Phases` and calls `read` and `write` itself; it holds
nothing while it waits.
"""

import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel
from sqlalchemy.orm import Session

from backend.auth import COOKIE, Credentials, authenticate, secret_of
from backend.deps import LONGEST_KEY
from backend.domain.access import Caller, missing
from backend.domain.operations import Of, Operation
from backend.errors import InvalidInput, NotSignedIn
from backend.machine.wall_clock import now
from backend.pressure.permissions import Claim
from backend.pressure.turns import Turns
from backend.pressure.visitors import UNKNOWN, Connection, Visitors
from backend.reading.calls import Call, Made
from backend.schemas.vocabulary import Role, Scope
from backend.store.owners import Owner, asked_of
from backend.store.people import audit, idempotency
from backend.store.people.callers import Sender
from backend.store.people.credentials import Secret
from backend.store.people.idempotency import KeptAnswer
from backend.traces.collector import DONE, NO_OBJECT, Trace, Traces
from backend.transactions import Transactions

T = TypeVar("T")


class Replayed(Exception):
    """This request was answered before: the handler sends the same answer again."""

    def __init__(self, kept: KeptAnswer) -> None:
        super().__init__("answered before")
        self.kept = kept


@dataclass(eq=False)
class Phases:
    """What a request may do next; `backend.routes` makes one per request."""

    request: Request
    operation: Operation
    name: str  # the operation, as the audit names it
    status: int  # of a good answer
    is_audited: bool
    opens_stream: bool = False
    # What an Idempotency-Key is compared by; an upload sets it, because its stream is read once.
    body_sha256: str | None = None
    _caller: Caller | None = field(default=None, init=False)
    # Known as soon as the credentials are, also if the operation is not theirs.
    _who: Caller | None = field(default=None, init=False)
    # What was before and is after, by the object that changed; None: that of the address.
    _changes: dict[str | None, Mapping[str, Any]] = field(default_factory=dict, init=False)

    @property
    def caller(self) -> Caller:
        """The caller who was admitted. Raises LookupError if the operation admits everybody."""
        if self._caller is None:
            raise LookupError(f"{self.name} admits everybody, so nobody is known here")
        return self._caller

    @property
    def known_caller(self) -> Caller | None:
        """The caller who was admitted; None if the operation admits everybody."""
        return self._caller

    async def admit(self) -> None:
        """Find out who asks, and hold nothing afterwards.

        Raises NotSignedIn, NotFound for what is missing or not the caller's, or Forbidden.
        """
        if self.operation.of is Of.NOBODY:
            return
        with self._remembering_sender():
            self._caller = await self._admission(self._person, self.admitted)

    @property
    def is_known(self) -> bool:
        """Whether it was found out who asks, also if the operation is not theirs."""
        return self._who is not None

    @property
    def is_traced(self) -> bool:
        """Whether the audit hears of this request if it changes nothing.

        Not of who only ranks in a project: such a person reads their own judgments alone.
        """
        if not self.operation.is_traced:
            return False
        project_id = self.request.path_params.get("project_id")
        return project_id is None or not self.caller.only_ranks_in(project_id)

    @property
    def is_admitted_late(self) -> bool:
        """Whether the write turn alone finds out who asks, as it does anyway (ADR 0020)."""
        if self._transactions.has_one_writer:
            return False
        return self.operation.is_hurried and not self._person.startswith(UNKNOWN)

    def admitted(self, session: Session) -> Caller:
        """Admit the caller by what the store says now; streams and exports ask again meanwhile."""
        own = self.request.app.state.own_address
        named = self.request.path_params
        asked = asked_of(self.operation.of, named)
        sender = authenticate(session, self._sent, at=now(), own=own, asked=asked)
        self._who = sender.caller
        return _admitted(sender, self.operation, named)

    def taking_much(self) -> AbstractAsyncContextManager[None]:
        """The turn of this person to send a large body. Raises TooBusy if too many wait."""
        turns: Turns = self.request.app.state.turns
        return turns.taking_much(self._person)

    async def parse(self, parse: Callable[[], T]) -> T:
        """Parse a large body with `parse`, one at a time: Python computes one at a time."""
        turns: Turns = self.request.app.state.turns
        async with turns.checking(self._person):
            return await run_in_threadpool(parse)

    async def read(self, work: Callable[[Session], T]) -> T:
        """Return what `work` finds, in a session that is closed when this returns."""
        read = self._transactions.open_stream if self.opens_stream else self._transactions.read
        return await read(self._person, work)

    async def read_much(self, work: Callable[[Session], T]) -> T:
        """The same for work that can take long; one at a time, and small reads do not wait."""
        return await self._transactions.read_much(self._person, work)

    async def make(self, values: Mapping[str, Any]) -> Made:
        """The large answer of this operation, whose endpoint gets these values."""
        return await self._transactions.make(self._person, Call(self.name, values, self.caller))

    async def write(self, work: Callable[[Session, Caller], T]) -> T:
        """Do the work of this request and remember it, in one transaction.

        The caller is checked again, and given to `work`: who lost a role since the request was
        admitted changes nothing any more. Raises Replayed for a POST that was answered before.
        """
        key = await self._sent_key()

        def _worked(session: Session) -> T:
            self._changes.clear()  # Those of a first time that a deadlock has undone.
            self._caller = caller = self.admitted(session)
            used = None if key is None else {"user_id": caller.id, **key}
            if used is not None and (kept := idempotency.find(session, **used)) is not None:
                raise Replayed(kept)
            done = work(session, caller)
            self.remember(session, done, used)
            return done

        with self._remembering_sender() if self._caller is None else nullcontext():
            return await self._transactions.write(self._person, _worked, by=self.name)

    async def write_as_nobody(self, work: Callable[[Session], T]) -> T:
        """Do and remember the work of a request that admits everybody, such as a sign-in."""

        def _worked(session: Session) -> T:
            self._changes.clear()
            done = work(session)
            self.remember(session, done, None)
            return done

        return await self._transactions.write(self._person, _worked, by=self.name)

    def note_change(self, *, before: object, after: object, object_id: str | None = None) -> None:
        """Let the audit line say what was there before and is there now; never a secret.

        Each `object_id` has a line of its own; without one it is the object of the address.
        """
        self._changes[object_id] = {"before": before, "after": after}

    def trace(self, outcome: str = DONE) -> None:
        """Let the audit know, a second later, what this request asked for without a change."""
        traces: Traces = self.request.app.state.traces
        named = list(self.request.path_params.values()) if self._who else []
        traces.add(
            Trace(
                user_id=self._who.id if self._who else None,
                action=self.name,
                # What nobody in particular names can be anything.
                object_id=str(named[-1])[:64] if named else NO_OBJECT,
                address=self.request.scope["podium.address"],
                outcome=outcome,
            )
        )

    def seen(self) -> dict[str, str]:
        """Return who asked and the ids in the address, for the log; empty for unknown senders."""
        if self._who is None:
            return {}
        return {"user_id": self._who.id} | {
            name: value for name, value in self.request.path_params.items() if name.endswith("_id")
        }

    def claim(self, may: Callable[[Caller], bool]) -> Claim:
        """Claim an answer that lasts: `may` is asked of the caller again and again."""
        secret = self._secret
        if secret is None:
            raise LookupError(f"{self.name} admits everybody, so nobody can be asked again")
        return Claim(self.caller.id, secret, may)

    def claim_to_view(self, *project_ids: str) -> Claim:
        """Claim an answer that lasts as long as its caller may see these projects."""
        return self.claim(partial(_may_view, project_ids))

    @cached_property
    def _sent(self) -> Credentials:
        """The credentials of this request; each transaction asks anew whose they are."""
        return credentials_of(self.request)

    @cached_property
    def _secret(self) -> Secret | None:
        return secret_of(self._sent)

    @property
    def _transactions(self) -> Transactions:
        transactions: Transactions = self.request.app.state.transactions
        return transactions

    @property
    def _admission(self) -> Callable[[str, Callable[[Session], Caller]], Awaitable[Caller]]:
        transactions = self._transactions
        return transactions.open_stream if self.opens_stream else transactions.admit

    @property
    def _person(self) -> str:
        """Name the person whose turn it is: who showed these credentials before, or an address."""
        if self._caller is not None:
            return self._caller.id
        visitors: Visitors = self.request.app.state.visitors
        secret = self._secret
        address: str = self.request.scope["podium.address"]
        return visitors.person(None if secret is None else secret.sha256, address)

    @contextmanager
    def _remembering_sender(self) -> Iterator[None]:
        """Remember who sends this, which the block finds out."""
        try:
            yield
        except NotSignedIn:
            self._remember_sender(None)
            raise
        finally:
            # Also where the block failed afterwards, as a write can.
            if self._caller is not None:
                self._remember_sender(self._caller.id)

    def _remember_sender(self, user_id: str | None) -> None:
        """Remember who showed these credentials, for turns and for the connection; None: nobody."""
        visitors: Visitors = self.request.app.state.visitors
        secret = self._secret
        if secret is not None:
            visitors.learn(secret.sha256, user_id)
        connection: Connection | None = self.request.scope.get("podium.connection")
        if connection is not None:
            connection.belongs_to(user_id)

    async def used_key(self) -> dict[str, str] | None:
        """Return what this request's Idempotency-Key stands for, None without one."""
        key = await self._sent_key()
        return None if key is None else {"user_id": self.caller.id, **key}

    async def _sent_key(self) -> dict[str, str] | None:
        """The same for whoever sends it."""
        key = self.request.headers.get("idempotency-key")
        if not key or self.request.method != "POST":
            return None
        return {
            "key": _checked_key(key),
            "route": f"{self.request.url.path}?{self.request.url.query}",
            "body_sha256": self.body_sha256 or _sha256(await self.request.body()),
        }

    def remember(self, session: Session, done: object, used: dict[str, str] | None) -> None:
        """Keep the answer of what was done under the key, if any, and write its audit line."""
        if not self.is_audited and used is None:
            return
        answer = _as_json(done)
        if used is not None:
            self.keep(session, used, 204 if done is None else self.status, answer)
        # Last: everybody who adds a line waits for the end of this transaction.
        if self.is_audited:
            self._audit(session, answer or {})

    def keep(
        self, session: Session, used: dict[str, str], status: int, answer: dict[str, Any] | None
    ) -> None:
        """Keep what is answered under the request's Idempotency-Key."""
        kept = {"body": _without_secrets(answer)}
        idempotency.keep(session, **used, status=status, answer=kept, at=now())

    def _audit(self, session: Session, answer: dict[str, Any]) -> None:
        """Write who changed what; a request that names no object has changed nothing."""
        named: dict[str, str] = self.request.path_params
        # A number names a part of what stands before it: the step of a run's checkpoint.
        ids = [name for name in named.values() if not name.isdecimal()]
        object_id = answer.get("id") or next(reversed(ids), None)
        changes = self._changes or {None: {}}
        changed = {one or object_id: {**named, **change} for one, change in changes.items()}
        audit.record_all(
            session,
            # Who signs in is known by the answer alone.
            user_id=self._caller.id if self._caller else answer.get("id"),
            action=self.name,
            changed={one: data for one, data in changed.items() if one is not None},
            request_id=self.request.scope.get("podium.request_id"),
            at=now(),
        )


def _as_json(done: object) -> dict[str, Any] | None:
    if isinstance(done, BaseModel):
        return done.model_dump(mode="json", by_alias=True)
    return done if isinstance(done, dict) else None


def credentials_of(request: Request) -> Credentials:
    """What a request says about who sends it."""
    return Credentials(
        method=request.method,
        authorization=request.headers.get("authorization"),
        cookie=request.cookies.get(COOKIE),
        origin=request.headers.get("origin"),
        host=request.headers.get("host"),
        scheme=request.scope["scheme"],
        page_of=request.headers.get("x-podium-user"),
    )


def _admitted(sender: Sender, operation: Operation, named: Mapping[str, str]) -> Caller:
    """The caller, about to do this operation on what the address names."""
    caller, owner = sender
    caller.must_have_scope(*operation.scopes)
    caller = caller.needing(operation.role)
    match operation.of:
        case Of.SERVICE:
            caller.must_hold(operation.role)
        case Of.ANYWHERE:
            caller.must_hold_anywhere(operation.role)
        case Of.ONESELF if named["user_id"] != caller.id:
            caller.must_hold(Role.ADMIN)
        case Of.ONESELF:
            pass
        case kind:
            _must_see(caller, operation, owner, f"{kind} {named[f'{kind}_id']}")
    return caller


def _must_see(caller: Caller, operation: Operation, owner: Owner | None, what: str) -> None:
    if owner is None:
        raise missing(what)
    caller.must_see(owner.project_id, what)
    if owner.project_id is None:
        # It belongs to all projects: anybody with the role may read it, nobody else's to change.
        is_reading = operation.scope is Scope.READ
        caller.must_hold_anywhere(operation.role if is_reading else Role.ADMIN)


def _may_view(project_ids: tuple[str, ...], caller: Caller) -> bool:
    return all(caller.holds_in(one, Role.VIEWER) for one in project_ids)


def _checked_key(key: str) -> str:
    if len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise InvalidInput(
            f"the Idempotency-Key is {key[:50]!r} ({len(key)} characters); expected 1 to "
            f"{LONGEST_KEY} printable ASCII characters",
            advice="Use a UUID.",
        )
    return key


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _without_secrets(answer: Any) -> Any:
    """Remove keys and tokens of invitations, which are shown once, from the answer that is kept."""
    if isinstance(answer, list):
        return [_without_secrets(one) for one in answer]
    if not isinstance(answer, dict):
        return answer
    return {
        name: None if _is_secret(name, value) else _without_secrets(value)
        for name, value in answer.items()
    }


def _is_secret(name: str, value: object) -> bool:
    return name == "token" or (name == "key" and str(value).startswith("pk_"))
