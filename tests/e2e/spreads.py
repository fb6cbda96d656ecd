"""Made-up distributions of rewards, lengths and advantages, as a trainer would tell them."""

import math
import random
from collections import Counter
from struct import pack, unpack

from backend.schemas.run_directory.events import BIN_SHIFT, DistributionLine, Histogram

N_STEPS = 40
N_RESPONSES = 64


def histogram(values: list[float]) -> Histogram:
    """These values in bins."""

    def bin_of(value: float) -> int:
        (bits,) = unpack("<I", pack("<f", abs(value)))
        return int(math.copysign(bits >> BIN_SHIFT, value))

    counts = sorted(Counter(map(bin_of, values)).items())
    return Histogram(bins=[one for one, _ in counts], counts=[count for _, count in counts])


def spread(step: int, rng: random.Random) -> DistributionLine:
    """Rewards that leave 0 for 1, lengths that grow, advantages around 0."""
    done = step / N_STEPS
    rewards = [float(rng.random() < 0.2 + 0.7 * done) for _ in range(N_RESPONSES)]
    lengths = [float(max(1, round(rng.gauss(20 + 60 * done, 6)))) for _ in rewards]
    advantages = [rng.gauss(reward - 0.5, 0.7) for reward in rewards for _ in range(30)]
    values = {"reward": rewards, "length": lengths, "advantage": advantages}
    told = {name: histogram(of_name) for name, of_name in values.items()}
    return DistributionLine(step=step, time=1.79e9 + step, tokens=9000 * step, values=told)
