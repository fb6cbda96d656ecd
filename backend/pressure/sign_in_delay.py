"""How long whoever sent wrong passwords waits before the next try, per sender and account.

Called by the sign-in, whose sender is an address and whose account an e-mail, and by the change of
a password, whose sender is the user, whatever the address; before the password is hashed. Nobody is
locked out: the longest wait is half a minute, and another sender does not wait at all. Tries that
come from many addresses are bounded by the queue for hashing alone.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from backend.errors import TooManyTries

# After so many failures in a row: none, one, two, ... ; then always the last.
DELAYS_S = (0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
FORGOTTEN_AFTER_S = 900.0
MOST_SENDERS = 10_000
# More accounts of one sender share one wait: else made-up ones would push the real one out.
MOST_ACCOUNTS = 20
_OTHERS = ""


@dataclass
class _Failures:
    count: int = 0
    last_at: float = 0.0
    waits_until: float = 0.0


@dataclass
class Try:
    """One password that is being checked."""

    fits: bool = False


class SignInDelay:
    """The failures that this process remembers; safe to use from several threads."""

    def __init__(self) -> None:
        # By sender, the one that tried last at the end; then by account.
        self._senders: OrderedDict[str, dict[str, _Failures]] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def trying(self, sender: str, account: str) -> Iterator[Try]:
        """Count the password that the block checks; the block says whether it fits.

        Raises TooManyTries, before the block, with the rest of the wait. If the block raises it,
        nobody has looked at the password, and the try does not count.
        """
        self.attempt(sender, account, at=monotonic())
        this = Try()
        try:
            yield this
        except TooManyTries:
            self.withdraw(sender, account)
            raise
        if this.fits:
            self.succeeded(sender, account)
        else:
            self.failed(sender, account, at=monotonic())

    def attempt(self, sender: str, account: str, *, at: float) -> None:
        """Count a try, as failed until `succeeded` says otherwise; `at` in seconds, monotonic.

        Raises TooManyTries with the rest of the wait; a try that is refused so does not count.
        """
        with self._lock:
            accounts = self._senders.setdefault(sender, {})
            self._senders.move_to_end(sender)
            if len(self._senders) > MOST_SENDERS:
                self._senders.popitem(last=False)
            self._forget(accounts, at)
            failures = accounts.setdefault(self._key(accounts, account), _Failures())
            wait_s = failures.waits_until - at
            if wait_s <= 0:
                failures.count += 1
                failures.last_at = at
                failures.waits_until = at + _delay_after(failures.count)
        if wait_s > 0:
            raise TooManyTries(
                "several wrong passwords were sent for this account; the next attempt is possible "
                f"in {max(1, wait_s):.0f} s",
                advice="Wait that long, then try again.",
                retry_after_s=wait_s,
            )

    def failed(self, sender: str, account: str, *, at: float) -> None:
        """Let the wait after a counted try begin now: its password took its time to be checked."""
        with self._lock:
            accounts = self._senders.get(sender, {})
            failures = accounts.get(self._key(accounts, account))
            if failures is not None:
                failures.waits_until = at + _delay_after(failures.count)

    def succeeded(self, sender: str, account: str) -> None:
        """Forget the failures of this pair."""
        with self._lock:
            accounts = self._senders.get(sender, {})
            if account in accounts:
                del accounts[account]
            if not accounts:
                self._senders.pop(sender, None)

    def withdraw(self, sender: str, account: str) -> None:
        """Take back the last try of this pair: its password was not looked at."""
        with self._lock:
            accounts = self._senders.get(sender, {})
            failures = accounts.get(self._key(accounts, account))
            if failures is not None and failures.count:
                failures.count -= 1
                failures.waits_until = failures.last_at

    def _key(self, accounts: dict[str, _Failures], account: str) -> str:
        return account if account in accounts or len(accounts) < MOST_ACCOUNTS else _OTHERS

    def _forget(self, accounts: dict[str, _Failures], at: float) -> None:
        for account in [
            one for one, past in accounts.items() if past.last_at + FORGOTTEN_AFTER_S <= at
        ]:
            del accounts[account]


def _delay_after(count: int) -> float:
    return DELAYS_S[min(count, len(DELAYS_S) - 1)]
