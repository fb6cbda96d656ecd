"""What the operator may set, read once from the environment (prefix `PODIUM_`).

`create_app`, the worker and the command line build one `Settings` each and pass it down; nothing
below them reads a setting from the environment. The trainer, another program, gets what it needs
(PODIUM_VLLM_PYTHON, PODIUM_ATTEMPT) in the environment that its worker gives it.
"""

import json
import re
import shlex
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

# Of every program that writes into the data directory: what it holds is for its owner alone.
UMASK = 0o077

# A worker that misses two beats is late; one that misses three may be gone.
STALE_BEATS = 3

_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_PASSWORD = re.compile(r"(://[^:/@]*:).*@")
_ASKED_PASSWORD = re.compile(r"([?&]password=)[^&]*")
Seconds = Annotated[float, Field(ge=0)]


class Settings(BaseSettings):
    """Every setting with its unit, range and default."""

    model_config = SettingsConfigDict(
        env_prefix="PODIUM_",
        # docker-compose.yml passes on what .env leaves empty.
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
    )

    data_dir: Path = Field(
        Path("data"), description="Folder of everything Podium keeps; local disk."
    )
    host: str = Field("127.0.0.1", description="Address the API listens on.")
    port: int = Field(8000, ge=0, le=65535, description="Port of the API; 0 = a free one.")
    database_url: str | None = Field(
        None, description="SQLAlchemy URL; default: SQLite in the data directory."
    )
    broker_url: str | None = Field(
        None, description="redis://... ; default: filesystem broker in the data directory."
    )
    artifact_url: str | None = Field(
        None, description="s3://bucket/prefix ; default: a folder in the data directory."
    )
    min_free_gb: float = Field(
        2,
        ge=0,
        le=1_000_000,
        description="Free GB that a worker needs on the disk of its run directories to take a "
        "new run, and the API on that of its data directory to take a file. Checkpoints leave it "
        "free, too.",
    )
    vllm_python: Path | None = Field(
        None, description="Python of an environment with vllm, for rollout.engine vllm."
    )
    reward_functions: str = Field(
        "",
        description="Python functions that runs may name as reward terms: module:function, joined "
        "by commas. They run on the worker, with the rights of its user.",
    )
    slots: int = Field(1, ge=1, le=256, description="Runs without GPUs at once per worker.")
    stop_grace_s: float = Field(
        60, ge=0.1, le=3600, description="Seconds between asking a trainer to stop and killing it."
    )
    beat_s: float = Field(5, ge=0.05, le=600, description="Seconds between two heartbeats.")
    stale_s: float = Field(
        45, ge=0.2, le=3600, description="Seconds without a heartbeat until a run is taken back."
    )
    sweep_s: float = Field(15, ge=0.05, le=600, description="Seconds between sweeps.")
    system_metrics_s: float = Field(
        10,
        ge=0,
        le=3600,
        description="Seconds between two samples of what a trainer and its machine use; 0 = none.",
    )
    crash_back_off_s: Annotated[tuple[Seconds, ...], NoDecode] = Field(
        (10, 60),
        description="Seconds that a run waits after its first and second crash without a new "
        "checkpoint (JSON); after the third it is not tried again.",
    )
    trainer_command: str = Field(
        "",
        description="The program that trains; it must write the same files into the run directory "
        "as the default, python -m worker.trainer.",
    )
    model_roots: str = Field(
        "",
        description="Folders in which a model's path may be, joined by ':', besides models/ and "
        "demo/ in the data directory.",
    )
    trusted_proxies: str = Field(
        "",
        description="Addresses or networks of proxies, joined by commas, whose X-Forwarded-For and "
        "X-Forwarded-Proto are believed; default: none.",
    )
    public_url: str | None = Field(
        None,
        pattern=r"^https?://[^/@?#\s]+/?$",
        description="Address under which browsers reach the API, for example "
        "https://podium.example.org.",
    )
    allowed_hosts: str = Field(
        "",
        description="Host names that the API answers to besides localhost, plain addresses and "
        "that of PODIUM_PUBLIC_URL, joined by commas; *.example.org stands for every name below.",
    )
    insecure: bool = Field(
        False,
        description="Listen beyond this machine although PODIUM_PUBLIC_URL is not https.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe event that is logged."
    )

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().resolve()

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: str) -> str:
        for part in _parts(value):
            try:
                ip_network(part)
            except ValueError as error:
                raise ValueError(
                    f"{part!r} is neither an address nor a network such as 10.0.0.0/8: {error}"
                ) from error
        return value

    @field_validator("database_url")
    @classmethod
    def _is_known_database(cls, value: str | None) -> str | None:
        if value is None:
            return value
        # Takes longer than all else here, and without an address nobody needs it.
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        try:
            kind = make_url(value).drivername
        except (ArgumentError, ValueError):
            kind = ""
        if kind not in ("sqlite", "postgresql", "postgres", "postgresql+psycopg"):
            raise ValueError("expected postgresql://user:password@host/database or sqlite:///FILE")
        return value

    @field_validator("broker_url")
    @classmethod
    def _is_redis(cls, value: str | None) -> str | None:
        if value is not None and not re.match(r"(rediss?|redis\+socket|sentinel)://.", value):
            raise ValueError("expected redis://host:6379/0, or rediss:// for TLS")
        return value

    @field_validator("artifact_url")
    @classmethod
    def _is_folder_or_bucket(cls, value: str | None) -> str | None:
        if value is not None and "://" in value and not re.match("s3://[^/]", value):
            raise ValueError("expected s3://bucket/prefix or a folder")
        return value

    @field_validator("reward_functions")
    @classmethod
    def _are_functions(cls, value: str) -> str:
        for part in _parts(value):
            if not _FUNCTION.fullmatch(part):
                raise ValueError(f"{part!r} is not of the form module:function")
        return value

    @field_validator("trainer_command")
    @classmethod
    def _can_be_split(cls, value: str) -> str:
        if value and not shlex.split(value):
            raise ValueError("names no program")
        return value

    @field_validator("crash_back_off_s", mode="before")
    @classmethod
    def _from_json(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            found = json.loads(value)
        except ValueError:
            found = None
        if not isinstance(found, list):
            raise ValueError("expected a JSON list of seconds such as [10, 60]")
        return found

    @model_validator(mode="after")
    def _outlives_late_beats(self) -> Self:
        if self.stale_s < STALE_BEATS * self.beat_s:
            raise ValueError(
                f"PODIUM_STALE_S is {self.stale_s:g} and PODIUM_BEAT_S is {self.beat_s:g}, so runs "
                "would be taken from workers that are alive: set PODIUM_STALE_S to at least "
                f"{STALE_BEATS} times PODIUM_BEAT_S, here {STALE_BEATS * self.beat_s:g}"
            )
        return self

    @property
    def sqlalchemy_url(self) -> str:
        """The database to use, with psycopg as the PostgreSQL driver."""
        url = self.database_url or f"sqlite:///{self.data_dir / 'podium.sqlite3'}"
        for prefix in ("postgres://", "postgresql://"):
            if url.startswith(prefix):
                return "postgresql+psycopg://" + url.removeprefix(prefix)
        return url

    @property
    def is_public_https(self) -> bool:
        """Whether browsers reach the API over TLS, at its public address."""
        return (self.public_url or "").startswith("https:")

    @property
    def is_embedded_database(self) -> bool:
        """Whether the database is the SQLite file of the data directory's owner."""
        return self.sqlalchemy_url.startswith("sqlite")

    @property
    def is_embedded_broker(self) -> bool:
        """Whether messages to workers travel through files in the data directory."""
        return self.broker_url is None

    @property
    def min_free_bytes(self) -> int:
        """`min_free_gb` in bytes."""
        return int(self.min_free_gb * 1e9)

    @property
    def runs_dir(self) -> Path:
        """Where run directories live, local to the worker."""
        return self.data_dir / "runs"

    @property
    def resolved_artifact_url(self) -> str:
        """The artifact store: a folder of the data directory unless set."""
        return self.artifact_url or str(self.data_dir / "artifacts")

    @cached_property
    def allowed_functions(self) -> tuple[str, ...]:
        """What `reward_functions` names."""
        return tuple(_parts(self.reward_functions))

    @cached_property
    def trusted_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The proxies whose word on addresses counts."""
        return tuple(ip_network(part) for part in _parts(self.trusted_proxies))

    @cached_property
    def resolved_model_roots(self) -> tuple[Path, ...]:
        """Folders under which a model's `path` may lie, resolved."""
        named = [Path(part).expanduser().resolve() for part in self.model_roots.split(":") if part]
        own = [(self.data_dir / name).resolve() for name in ("models", "demo")]
        return (*own, *named)

    @cached_property
    def host_names(self) -> tuple[str, ...]:
        """What `allowed_hosts` names."""
        return tuple(_parts(self.allowed_hosts))


def _parts(joined: str) -> list[str]:
    return [part.strip() for part in joined.split(",") if part.strip()]


def wrong_settings(error: ValidationError) -> str:
    """Each setting that is wrong, by the name of its environment variable, with its value."""
    return "; ".join(
        f"{_named(wrong['loc'], wrong['input'])}{wrong['msg'].removeprefix('Value error, ')}"
        for wrong in error.errors(include_url=False)
    )


def _named(place: tuple[int | str, ...], value: object) -> str:
    """The setting and its value, without a password; empty for what several settings say."""
    if not place:
        return ""
    shown = value
    if isinstance(value, str):
        shown = _ASKED_PASSWORD.sub(r"\1***", _PASSWORD.sub(r"\1***@", value))
    return f"PODIUM_{str(place[0]).upper()} is {shown!r}: "
