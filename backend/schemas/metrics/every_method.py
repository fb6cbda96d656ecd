"""Metrics that every method that trains writes, those from outside, and those of the machine."""

from backend.schemas.metrics.metric import FROM_ZERO, Group, Metric

TRAINING = (
    Metric(
        name="grad_norm",
        group=Group.UPDATES,
        title="Gradient norm",
        what="Norm of the gradient before it is clipped to `optim.grad_clip`.",
        healthy="Stays within one order of magnitude; if a spike is followed by a worse loss, "
        "lower `optim.lr`.",
        is_key=True,
        axis=FROM_ZERO,
    ),
    Metric(
        name="lr",
        group=Group.UPDATES,
        title="Learning rate",
        what="Learning rate of the step, after warm-up and schedule.",
        healthy="As `optim.schedule` says.",
    ),
    Metric(
        name="tokens_per_s",
        group=Group.SPEED,
        title="Speed",
        what="Tokens of the step, prompts included, divided by its duration; for policy_gradient "
        "all tokens that were sampled, greedy and replaced responses included.",
        unit="tokens/s",
        healthy="Steady; it falls where responses get shorter or another process takes the "
        "machine.",
        axis=FROM_ZERO,
    ),
    Metric(
        name="time/step_s",
        group=Group.SPEED,
        title="Time of a step",
        what="Duration of the whole step, without evaluations and checkpoints.",
        unit="s",
        healthy="Steady; it grows with the length of the responses.",
        axis=FROM_ZERO,
    ),
    Metric(
        name="memory/peak_gib",
        group=Group.SPEED,
        title="Peak memory",
        what="Peak memory of the trainer so far: on the GPU, or in the process if there is no GPU.",
        unit="GiB",
        healthy="Flat after the first steps and below what the device has.",
    ),
)

OUTSIDE = (
    Metric(
        name="gold/{name}",
        group=Group.OUTSIDE,
        title="Gold {name}",
        what="A score that is trusted more than the reward, measured outside the run.",
        healthy="Rises with the reward; if the reward rises alone, it is over-optimized.",
        direction="higher",
        is_key=True,
        is_evaluation=True,
        has_interval=True,
    ),
    Metric(
        name="outside/{name}",
        group=Group.OUTSIDE,
        title="Outside {name}",
        what="Any other result that was measured outside the run.",
        healthy="Depends on what is measured.",
        direction="higher",
        is_key=True,
        is_evaluation=True,
        has_interval=True,
    ),
)

SYSTEM = (
    Metric(
        name="system/gpu_busy/{gpu}",
        group=Group.SYSTEM,
        title="GPU {gpu} busy",
        what="Share of the time in which a GPU of the run computed anything.",
        unit="share",
        healthy="Near 1 while the trainer samples and updates; if it is low, the GPU waits for the "
        "CPU, for data or for a small batch.",
    ),
    Metric(
        name="system/gpu_memory_gib/{gpu}",
        group=Group.SYSTEM,
        title="GPU {gpu} memory",
        what="Memory in use on a GPU of the run, by whichever process.",
        unit="GiB",
        healthy="Flat after the first steps and below what the GPU has.",
    ),
    Metric(
        name="system/cpu_cores",
        group=Group.SYSTEM,
        title="CPU of the trainer",
        what="CPU time of the trainer and its child processes, divided by the time that passed.",
        unit="cores",
        healthy="About `resources.threads` without a GPU; with one, far below it.",
        axis=FROM_ZERO,
    ),
    Metric(
        name="system/memory_gib",
        group=Group.SYSTEM,
        title="Memory of the trainer",
        what="Resident memory of the trainer and its child processes; each counts the memory that "
        "they share.",
        unit="GiB",
        healthy="Flat after the first steps; if it grows with every step, memory leaks.",
    ),
    Metric(
        name="system/machine_cpu",
        group=Group.SYSTEM,
        title="CPU of the machine",
        what="Share of the time of all cores that any process used.",
        unit="share",
        healthy="Below 1; at 1 other processes may slow the run down.",
    ),
    Metric(
        name="system/machine_memory",
        group=Group.SYSTEM,
        title="Memory of the machine",
        what="Share of the machine's memory that is not available.",
        unit="share",
        healthy="Below .9; near 1 the kernel may kill the trainer.",
    ),
    Metric(
        name="system/disk_free_gib",
        group=Group.SYSTEM,
        title="Free disk",
        what="Free space on the disk of the run directory.",
        unit="GiB",
        healthy="Above `PODIUM_MIN_FREE_GB` (in GB; 1 GiB is 1.07 GB), with room for the next "
        "checkpoint.",
    ),
    Metric(
        name="system/disk_read_mib_s",
        group=Group.SYSTEM,
        title="Disk reads",
        what="What the trainer and its child processes read from disk; the page cache does not "
        "count.",
        unit="MiB/s",
        healthy="Near 0 after the model is loaded.",
        axis=FROM_ZERO,
    ),
    Metric(
        name="system/disk_write_mib_s",
        group=Group.SYSTEM,
        title="Disk writes",
        what="What the trainer and its child processes write to disk.",
        unit="MiB/s",
        healthy="Near 0 between checkpoints.",
        axis=FROM_ZERO,
    ),
)
