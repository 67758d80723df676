"""T10: what servers and names that want in try, against real ones on loopback.

`internet` says which server stands behind which address, so that a public address is connected as
in the wild, and which server was reached can be seen.
"""

import gzip
import zlib
from collections.abc import Iterator
from urllib.parse import urljoin

import pytest

from shared.adapters.guarded_egress import GuardedEgress
from shared.domain.errors import NotAllowed, TimedOut, TooLarge, Unavailable, Unreadable
from shared.ports import EgressRequest, EgressResponse
from tests.servers.certificates import CertificateAuthority
from tests.servers.dns import run_name_server
from tests.servers.raw import build_routed_transport, run_raw_server, script_bytes

PUBLIC, UNREACHABLE, PRIVATE = "93.184.215.14", "151.101.1.69", "127.0.0.1"
METADATA_ADDRESS = "169.254.169.254"
HELLO_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def world(authority):
    """The app's server behind its public address, and one that only we can reach."""
    with (
        run_raw_server(
            script_bytes(HELLO_RESPONSE), tls=authority.build_server_context("app.example.com")
        ) as app,
        run_raw_server(
            script_bytes(HELLO_RESPONSE), tls=authority.build_server_context("app.example.com")
        ) as private_server,
    ):
        transport = build_routed_transport(
            {PUBLIC: app, PRIVATE: private_server}, tls_context=authority.build_client_context()
        )
        yield app, private_server, transport


def build_get(url: str, **more) -> EgressRequest:
    return EgressRequest(method="GET", url=url, headers={}, **{"timeout_s": 10, **more})


async def test_dns_rebinding_connects_to_the_address_that_was_checked_t10(world):
    app, inside, transport = world
    with run_name_server([PUBLIC], [PRIVATE]) as names:
        egress = GuardedEgress(resolve=names.resolve, transport=transport)

        response = await egress.send(build_get("https://app.example.com/tool"))

    assert response.body == b"hello"
    assert names.queries == ["app.example.com"]
    assert (len(app.requests), len(inside.requests)) == (1, 0)


async def test_a_name_that_now_resolves_privately_is_refused_at_the_next_call_t10(world):
    app, inside, transport = world
    with run_name_server([PUBLIC], [PRIVATE]) as names:
        egress = GuardedEgress(resolve=names.resolve, transport=transport)
        await egress.send(build_get("https://app.example.com/tool"))

        with pytest.raises(NotAllowed):
            await egress.send(build_get("https://app.example.com/tool"))

    assert (len(app.requests), len(inside.requests)) == (1, 0)


@pytest.mark.parametrize(
    "private", [PRIVATE, METADATA_ADDRESS, "::1", "::ffff:127.0.0.1", "2002:7f00:1::"]
)
async def test_a_name_with_one_private_address_is_refused_t10(world, private):
    app, inside, transport = world
    with run_name_server([PUBLIC, private]) as names, pytest.raises(NotAllowed):
        await GuardedEgress(resolve=names.resolve, transport=transport).send(
            build_get("https://app.example.com/tool")
        )

    assert (app.requests, inside.requests) == ([], [])


async def test_a_name_is_not_resolved_again_when_its_address_is_down_t10(world):
    app, inside, transport = world
    with run_name_server([UNREACHABLE], [PRIVATE]) as names, pytest.raises(Unavailable):
        await GuardedEgress(resolve=names.resolve, transport=transport).send(
            build_get("https://app.example.com/tool")
        )

    assert names.queries == ["app.example.com"]
    assert (app.requests, inside.requests) == ([], [])


async def test_the_host_header_and_sni_carry_the_name_t10(world):
    app, _, transport = world
    with run_name_server([PUBLIC]) as names:
        egress = GuardedEgress(resolve=names.resolve, transport=transport)

        await egress.send(build_get("https://app.example.com/tool?a=b"))

    lines = app.requests[0].decode().lower().split("\r\n")
    assert lines[0] == "get /tool?a=b http/1.1"
    assert "host: app.example.com" in lines
    assert app.sni_names == ["app.example.com"]


@pytest.mark.parametrize(
    ("name", "days"), [("evil.example.com", 1), ("app.example.com", -1), (PUBLIC, 1)]
)
async def test_a_certificate_of_another_name_or_expired_is_refused_t10(authority, name, days):
    with (
        run_raw_server(
            script_bytes(HELLO_RESPONSE), tls=authority.build_server_context(name, valid_days=days)
        ) as server,
        run_name_server([PUBLIC]) as names,
    ):
        transport = build_routed_transport(
            {PUBLIC: server}, tls_context=authority.build_client_context()
        )

        with pytest.raises(Unavailable):
            await GuardedEgress(resolve=names.resolve, transport=transport).send(
                build_get("https://app.example.com/")
            )

    assert server.requests == []


async def test_a_certificate_of_an_untrusted_authority_is_refused_t10(authority, tmp_path):
    stranger = CertificateAuthority(tmp_path)
    with (
        run_raw_server(
            script_bytes(HELLO_RESPONSE), tls=stranger.build_server_context("app.example.com")
        ) as server,
        run_name_server([PUBLIC]) as names,
    ):
        transport = build_routed_transport(
            {PUBLIC: server}, tls_context=authority.build_client_context()
        )

        with pytest.raises(Unavailable):
            await GuardedEgress(resolve=names.resolve, transport=transport).send(
                build_get("https://app.example.com/")
            )

    assert server.requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location",
    [
        f"http://{METADATA_ADDRESS}/latest/meta-data/",
        f"https://{METADATA_ADDRESS}/latest/meta-data/",
        "http://app.example.com/",
        "https://127.0.0.1/",
        "//127.0.0.1/",
        "//metadata.google.internal/",
        "https://app.example.com@127.0.0.1/",
        "https://app.example.com:8443/",
        "https:\\\\127.0.0.1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "https://[::ffff:127.0.0.1]/",
    ],
)
async def test_a_redirect_is_not_followed_and_its_target_is_checked_t10(
    authority, status, location
):
    answer = f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
    request = EgressRequest(
        method="POST", url="https://app.example.com/tool", headers={}, body=b"private"
    )
    with (
        run_raw_server(
            script_bytes(answer.encode()), tls=authority.build_server_context("app.example.com")
        ) as app,
        run_raw_server(script_bytes(HELLO_RESPONSE)) as inside,
        run_name_server([PUBLIC]) as names,
    ):
        transport = build_routed_transport(
            {PUBLIC: app, PRIVATE: inside, METADATA_ADDRESS: inside},
            tls_context=authority.build_client_context(),
        )
        egress = GuardedEgress(resolve=names.resolve, transport=transport)

        response = await egress.send(request)
        with pytest.raises(NotAllowed):
            await egress.send(build_get(urljoin(request.url, response.headers["location"])))

    assert response.status == status
    assert (len(app.requests), inside.requests) == (1, [])


@pytest.mark.parametrize("location", ["/tool", "tool", "?again", "//app.example.com/tool"])
async def test_a_redirect_to_itself_is_one_request_t10(authority, location):
    answer = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
    with (
        run_raw_server(
            script_bytes(answer.encode()), tls=authority.build_server_context("app.example.com")
        ) as app,
        run_name_server([PUBLIC]) as names,
    ):
        transport = build_routed_transport(
            {PUBLIC: app}, tls_context=authority.build_client_context()
        )

        await GuardedEgress(resolve=names.resolve, transport=transport).send(
            build_get("https://app.example.com/tool")
        )

    assert len(app.requests) == 1


def build_response(*lines: str, body: bytes = b"") -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", *lines, "", ""]).encode() + body


def repeat_endlessly(first: bytes, again: bytes):
    """Say the first words, and then the same as fast as it is read."""

    def script(stop_event) -> Iterator[bytes]:
        yield first
        while not stop_event.is_set():
            yield again

    return script


def drip(first: bytes, drop: bytes):
    """Say the first words, and then a little again and again."""

    def script(stop_event) -> Iterator[bytes]:
        yield first
        while not stop_event.wait(0.02):
            yield drop

    return script


SLOW_SCRIPTS = {
    "silence": drip(b"", b""),
    "half a status line": drip(b"HTTP/1.1 2", b""),
    "headers, one letter at a time": drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"),
    "a body, one letter at a time": drip(build_response("Content-Length: 90000"), b"a"),
    "a chunk, one letter at a time": drip(
        build_response("Transfer-Encoding: chunked", body=b"ffff\r\n"), b"a"
    ),
    "a chunk's size, one digit at a time": drip(build_response("Transfer-Encoding: chunked"), b"0"),
    "hints that never end": drip(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "a body of half the promised length": drip(
        build_response("Content-Length: 10", body=b"half"), b""
    ),
}

BROKEN_SCRIPTS = {
    "nothing": script_bytes(b""),
    "not HTTP": script_bytes(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "HTTP 0.9": script_bytes(b"<html>hello</html>"),
    "a status of four digits": script_bytes(b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n"),
    "less than promised": script_bytes(build_response("Content-Length: 10", body=b"half")),
    "a negative length": script_bytes(build_response("Content-Length: -1", body=b"x")),
    "two lengths": script_bytes(
        build_response("Content-Length: 1", "Content-Length: 2", body=b"xy")
    ),
    "a chunk cut short": script_bytes(
        build_response("Transfer-Encoding: chunked", body=b"5\r\nhel")
    ),
    "an odd chunk": script_bytes(
        build_response("Transfer-Encoding: chunked", body=b"zz\r\nhello\r\n0\r\n\r\n")
    ),
    "a header with a null byte": script_bytes(build_response("X-Odd: a\x00b", "Content-Length: 0")),
    "a header without a name": script_bytes(build_response(": odd", "Content-Length: 0")),
    "a status line without end": repeat_endlessly(b"HTTP/1.1 200 ", b"a" * 4_096),
    "a header without end": repeat_endlessly(b"HTTP/1.1 200 OK\r\nX-Huge: ", b"a" * 4_096),
    "headers without end": repeat_endlessly(b"HTTP/1.1 200 OK\r\n", b"X-Again: a\r\n" * 100),
    "a huge header": script_bytes(
        build_response("X-Huge: " + "a" * 2_000_000, "Content-Length: 0")
    ),
    "a chunk's size without end": repeat_endlessly(
        build_response("Transfer-Encoding: chunked"), b"0" * 4_096
    ),
    "trailers without end": repeat_endlessly(
        build_response("Transfer-Encoding: chunked", body=b"0\r\n"), b"X-Again: a\r\n" * 100
    ),
}

LARGE_SCRIPTS = {
    "a long body": script_bytes(build_response("Content-Length: 200000", body=bytes(200_000))),
    "a body without end": repeat_endlessly(build_response("Connection: close"), b"a" * 4_096),
    "chunks without end": repeat_endlessly(
        build_response("Transfer-Encoding: chunked"), b"1\r\na\r\n" * 500
    ),
    "a gzip bomb": script_bytes(
        build_response("Content-Encoding: gzip", body=gzip.compress(bytes(5_000_000)))
    ),
    "a zlib bomb": script_bytes(
        build_response("Content-Encoding: deflate", body=zlib.compress(bytes(5_000_000)))
    ),
}

UNREADABLE_SCRIPTS = {
    "packed and cut short": script_bytes(
        build_response("Content-Encoding: gzip", body=gzip.compress(b"hello")[:-4])
    ),
    "packed twice": script_bytes(build_response("Content-Encoding: gzip, gzip", body=b"?")),
    "packed as nobody asked": script_bytes(build_response("Content-Encoding: zstd", body=b"?")),
    "said to be packed": script_bytes(build_response("Content-Encoding: gzip", body=b"hello")),
}


async def send_to(script, **more) -> EgressResponse:
    with run_raw_server(script) as server:
        return await GuardedEgress(dev_origins=[server.url]).send(
            build_get(f"{server.url}/", max_bytes=100_000, **more)
        )


@pytest.mark.parametrize("script", SLOW_SCRIPTS.values(), ids=SLOW_SCRIPTS.keys())
async def test_a_slow_server_times_out_at_the_deadline_t10(script):
    with pytest.raises(TimedOut):
        await send_to(script, timeout_s=0.3)


@pytest.mark.parametrize("script", BROKEN_SCRIPTS.values(), ids=BROKEN_SCRIPTS.keys())
async def test_a_malformed_answer_is_refused_before_its_end_t10(script):
    with pytest.raises(Unavailable) as raised:
        await send_to(script)

    assert not isinstance(raised.value, TimedOut)


@pytest.mark.parametrize("script", LARGE_SCRIPTS.values(), ids=LARGE_SCRIPTS.keys())
async def test_an_answer_over_the_limit_is_not_read_to_its_end_t10(script):
    with pytest.raises(TooLarge):
        await send_to(script)


@pytest.mark.parametrize("script", UNREADABLE_SCRIPTS.values(), ids=UNREADABLE_SCRIPTS.keys())
async def test_an_answer_that_cannot_be_decompressed_is_unreadable_t10(script):
    with pytest.raises(Unreadable):
        await send_to(script)


@pytest.mark.parametrize(
    "content_type", ["image/png", "application/octet-stream", "multipart/mixed; boundary=a", "?"]
)
async def test_an_answer_of_another_media_type_is_refused_t10(content_type):
    script = script_bytes(
        build_response(f"Content-Type: {content_type}", "Content-Length: 5", body=b"hello")
    )

    with pytest.raises(Unreadable):
        await send_to(script, accepts=("application/json", "text/*"))


@pytest.mark.parametrize(
    "head",
    [
        build_response("Content-Type: application/json; charset=utf-8", "Content-Length: 0"),
        build_response("Content-Type: Text/Plain", "Content-Length: 0"),
        build_response("Content-Type: application/problem+json", "Content-Length: 0"),
        build_response("Content-Length: 0"),
        b"HTTP/1.1 404 Not Found\r\nContent-Type: image/png\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_accepted_types_pass_and_error_answers_may_have_any_type_t10(head):
    answer = await send_to(script_bytes(head), accepts=("application/json", "text/*"))

    assert answer.status == (404 if b"404" in head else 200)


async def test_a_header_value_cannot_inject_another_header_t10(world):
    app, _, transport = world
    with run_name_server([PUBLIC]) as names:
        request = EgressRequest(
            method="GET",
            url="https://app.example.com/",
            headers={"x-session": "1\r\nx-evil: 1"},
        )

        with pytest.raises(NotAllowed):
            await GuardedEgress(resolve=names.resolve, transport=transport).send(request)

    assert app.requests == []
