"""How long whoever sent wrong passwords waits before the next try, per address and e-mail.

Called by the sign-in, before the password is hashed, with a clock of the caller. Nobody is locked
out: the longest wait is half a minute, and another address does not wait at all. Tries that come
from many addresses are bounded by the queue for hashing alone.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from backend.errors import TooManyTries

# After so many failures in a row: none, one, two, ... ; then always the last.
DELAYS_S = (0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
FORGOTTEN_AFTER_S = 900.0
MOST_ADDRESSES = 10_000
# More e-mails of one address share one wait: else made-up ones would push the real one out.
MOST_EMAILS = 20
_OTHERS = ""


@dataclass
class _Failures:
    count: int = 0
    last_at: float = 0.0
    waits_until: float = 0.0


class SignInDelay:
    """The failures that this process remembers; safe to use from several threads."""

    def __init__(self) -> None:
        # By address, the one that tried last at the end; then by e-mail.
        self._addresses: OrderedDict[str, dict[str, _Failures]] = OrderedDict()
        self._lock = threading.Lock()

    def attempt(self, address: str, email: str, *, at: float) -> None:
        """Count a try, as failed until `succeeded` says otherwise; `at` in seconds, monotonic.

        Raises TooManyTries with the rest of the wait; a try that is refused so does not count.
        """
        with self._lock:
            emails = self._addresses.setdefault(address, {})
            self._addresses.move_to_end(address)
            if len(self._addresses) > MOST_ADDRESSES:
                self._addresses.popitem(last=False)
            self._forget(emails, at)
            failures = emails.setdefault(self._key(emails, email), _Failures())
            wait_s = failures.waits_until - at
            if wait_s <= 0:
                failures.count += 1
                failures.last_at = at
                failures.waits_until = at + _delay_after(failures.count)
        if wait_s > 0:
            raise TooManyTries(
                "several wrong passwords were sent for this e-mail address from your network "
                f"address; the next try is possible in {wait_s:.0f} s",
                advice="Wait for the time in Retry-After, then try again.",
                retry_after_s=wait_s,
            )

    def failed(self, address: str, email: str, *, at: float) -> None:
        """Let the wait after a counted try begin now: its password took its time to be checked."""
        with self._lock:
            emails = self._addresses.get(address, {})
            failures = emails.get(self._key(emails, email))
            if failures is not None:
                failures.waits_until = at + _delay_after(failures.count)

    def succeeded(self, address: str, email: str) -> None:
        """Forget the failures of this pair."""
        with self._lock:
            emails = self._addresses.get(address, {})
            if email in emails:
                del emails[email]
            if not emails:
                self._addresses.pop(address, None)

    def withdraw(self, address: str, email: str) -> None:
        """Take back the last try of this pair: its password was not looked at."""
        with self._lock:
            emails = self._addresses.get(address, {})
            failures = emails.get(self._key(emails, email))
            if failures is not None and failures.count:
                failures.count -= 1
                failures.waits_until = failures.last_at

    def _key(self, emails: dict[str, _Failures], email: str) -> str:
        return email if email in emails or len(emails) < MOST_EMAILS else _OTHERS

    def _forget(self, emails: dict[str, _Failures], at: float) -> None:
        for email in [
            one for one, past in emails.items() if past.last_at + FORGOTTEN_AFTER_S <= at
        ]:
            del emails[email]


def _delay_after(count: int) -> float:
    return DELAYS_S[min(count, len(DELAYS_S) - 1)]
