"""Where the API may listen, and what it says about it."""

import asyncio
import socket
from pathlib import Path

import pytest

from backend.errors import InvalidInput
from backend.ops.listening import listen, reach_of, url_of
from backend.settings import Settings
from tests.loops import in_a_loop


def settings(folder: Path, **given: object) -> Settings:
    return Settings.model_validate({"data_dir": folder, "port": 0, **given})


@pytest.mark.parametrize(
    "given", [{}, {"public_url": "http://podium.example.org"}, {"allowed_hosts": "gpubox"}]
)
def test_it_does_not_listen_for_others_without_encryption(
    tmp_path: Path, given: dict[str, object]
) -> None:
    with pytest.raises(InvalidInput, match="unencrypted") as refused:
        listen(settings(tmp_path, host="0.0.0.0", **given))

    assert "PODIUM_INSECURE=1" in str(refused.value.advice)


@pytest.mark.parametrize(
    "given", [{"public_url": "https://podium.example.org"}, {"insecure": True}]
)
def test_it_listens_for_others_where_that_is_meant(
    tmp_path: Path, given: dict[str, object]
) -> None:
    with listen(settings(tmp_path, host="0.0.0.0", **given)) as listener:
        assert reach_of(listener).startswith("other machines too: it listens on every address")
        assert url_of(listener).startswith("http://127.0.0.1:")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_it_listens_on_this_machine_as_it_is(tmp_path: Path, host: str) -> None:
    with listen(settings(tmp_path, host=host)) as listener:
        assert reach_of(listener) == "this machine alone"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_what_is_written_is_sent_at_once(tmp_path: Path, host: str) -> None:
    """Else the second part of an answer waits until the first is acknowledged, 40 ms later."""

    async def sends_at_once(listener: socket.socket) -> bool:
        taken: asyncio.Queue[asyncio.BaseTransport] = asyncio.Queue()

        class Taking(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                taken.put_nowait(transport)

        server = await asyncio.get_running_loop().create_server(Taking, sock=listener)
        _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
        own = (await taken.get()).get_extra_info("socket")
        is_set = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
        writer.close()
        server.close()
        return bool(is_set)

    with listen(settings(tmp_path, host=host)) as listener:
        assert in_a_loop(sends_at_once(listener))
