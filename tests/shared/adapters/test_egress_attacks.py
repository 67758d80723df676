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
from shared.ports import EgressRequest
from tests.servers.certificates import Authority
from tests.servers.dns import naming
from tests.servers.raw import answering, internet, saying

PUBLIC, OTHER, INSIDE = "93.184.215.14", "151.101.1.69", "127.0.0.1"
METADATA = "169.254.169.254"
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def world(authority):
    """The app's server behind its public address, and one that only we can reach."""
    with (
        answering(saying(HELLO), tls=authority.server("app.example.com")) as app,
        answering(saying(HELLO), tls=authority.server("app.example.com")) as inside,
    ):
        roads = internet({PUBLIC: app, INSIDE: inside}, trusting=authority.trusting())
        yield app, inside, roads


def get(url: str, **more) -> EgressRequest:
    return EgressRequest(method="GET", url=url, headers={}, **{"timeout_s": 10, **more})


async def test_t10_a_name_that_changes_its_address_is_connected_where_it_was_checked(world):
    app, inside, roads = world
    with naming([PUBLIC], [INSIDE]) as names:
        egress = GuardedEgress(resolve=names.resolve, transport=roads)

        response = await egress.send(get("https://app.example.com/tool"))

    assert response.body == b"hello"
    assert names.asked == ["app.example.com"]
    assert (len(app.heard), len(inside.heard)) == (1, 0)


async def test_t10_a_name_that_has_changed_is_refused_at_the_next_call(world):
    app, inside, roads = world
    with naming([PUBLIC], [INSIDE]) as names:
        egress = GuardedEgress(resolve=names.resolve, transport=roads)
        await egress.send(get("https://app.example.com/tool"))

        with pytest.raises(NotAllowed):
            await egress.send(get("https://app.example.com/tool"))

    assert (len(app.heard), len(inside.heard)) == (1, 0)


@pytest.mark.parametrize("private", [INSIDE, METADATA, "::1", "::ffff:127.0.0.1", "2002:7f00:1::"])
async def test_t10_a_name_with_one_private_address_reaches_nobody(world, private):
    app, inside, roads = world
    with naming([PUBLIC, private]) as names, pytest.raises(NotAllowed):
        await GuardedEgress(resolve=names.resolve, transport=roads).send(
            get("https://app.example.com/tool")
        )

    assert (app.heard, inside.heard) == ([], [])


async def test_t10_a_dead_address_is_not_asked_for_again(world):
    app, inside, roads = world
    with naming([OTHER], [INSIDE]) as names, pytest.raises(Unavailable):
        await GuardedEgress(resolve=names.resolve, transport=roads).send(
            get("https://app.example.com/tool")
        )

    assert names.asked == ["app.example.com"]
    assert (app.heard, inside.heard) == ([], [])


async def test_t10_the_name_stands_in_host_and_in_sni(world):
    app, _, roads = world
    with naming([PUBLIC]) as names:
        egress = GuardedEgress(resolve=names.resolve, transport=roads)

        await egress.send(get("https://app.example.com/tool?a=b"))

    lines = app.heard[0].decode().lower().split("\r\n")
    assert lines[0] == "get /tool?a=b http/1.1"
    assert "host: app.example.com" in lines
    assert app.names == ["app.example.com"]


@pytest.mark.parametrize(
    ("name", "days"), [("evil.example.com", 1), ("app.example.com", -1), (PUBLIC, 1)]
)
async def test_t10_a_certificate_of_another_name_or_time_is_refused(authority, name, days):
    with (
        answering(saying(HELLO), tls=authority.server(name, valid_days=days)) as server,
        naming([PUBLIC]) as names,
    ):
        roads = internet({PUBLIC: server}, trusting=authority.trusting())

        with pytest.raises(Unavailable):
            await GuardedEgress(resolve=names.resolve, transport=roads).send(
                get("https://app.example.com/")
            )

    assert server.heard == []


async def test_t10_a_certificate_that_nobody_vouches_for_is_refused(authority, tmp_path):
    stranger = Authority(tmp_path)
    with (
        answering(saying(HELLO), tls=stranger.server("app.example.com")) as server,
        naming([PUBLIC]) as names,
    ):
        roads = internet({PUBLIC: server}, trusting=authority.trusting())

        with pytest.raises(Unavailable):
            await GuardedEgress(resolve=names.resolve, transport=roads).send(
                get("https://app.example.com/")
            )

    assert server.heard == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location",
    [
        f"http://{METADATA}/latest/meta-data/",
        f"https://{METADATA}/latest/meta-data/",
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
async def test_t10_a_redirect_goes_nowhere_by_itself_and_is_judged_when_followed(
    authority, status, location
):
    answer = f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
    request = EgressRequest(
        method="POST", url="https://app.example.com/tool", headers={}, body=b"private"
    )
    with (
        answering(saying(answer.encode()), tls=authority.server("app.example.com")) as app,
        answering(saying(HELLO)) as inside,
        naming([PUBLIC]) as names,
    ):
        roads = internet(
            {PUBLIC: app, INSIDE: inside, METADATA: inside}, trusting=authority.trusting()
        )
        egress = GuardedEgress(resolve=names.resolve, transport=roads)

        response = await egress.send(request)
        with pytest.raises(NotAllowed):
            await egress.send(get(urljoin(request.url, response.headers["location"])))

    assert response.status == status
    assert (len(app.heard), inside.heard) == (1, [])


@pytest.mark.parametrize("location", ["/tool", "tool", "?again", "//app.example.com/tool"])
async def test_t10_a_redirect_to_itself_is_one_request(authority, location):
    answer = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
    with (
        answering(saying(answer.encode()), tls=authority.server("app.example.com")) as app,
        naming([PUBLIC]) as names,
    ):
        roads = internet({PUBLIC: app}, trusting=authority.trusting())

        await GuardedEgress(resolve=names.resolve, transport=roads).send(
            get("https://app.example.com/tool")
        )

    assert len(app.heard) == 1


def headed(*lines: str, body: bytes = b"") -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", *lines, "", ""]).encode() + body


def endlessly(first: bytes, again: bytes):
    """Say the first words, and then the same as fast as it is read."""

    def script(stopped) -> Iterator[bytes]:
        yield first
        while not stopped.is_set():
            yield again

    return script


def dripping(first: bytes, drop: bytes):
    """Say the first words, and then a little again and again."""

    def script(stopped) -> Iterator[bytes]:
        yield first
        while not stopped.wait(0.02):
            yield drop

    return script


SLOW = {
    "silence": dripping(b"", b""),
    "half a status line": dripping(b"HTTP/1.1 2", b""),
    "headers, one letter at a time": dripping(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"),
    "a body, one letter at a time": dripping(headed("Content-Length: 90000"), b"a"),
    "a chunk, one letter at a time": dripping(
        headed("Transfer-Encoding: chunked", body=b"ffff\r\n"), b"a"
    ),
    "a chunk's size, one digit at a time": dripping(headed("Transfer-Encoding: chunked"), b"0"),
    "hints that never end": dripping(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "a body of half the promised length": dripping(headed("Content-Length: 10", body=b"half"), b""),
}

BROKEN = {
    "nothing": saying(b""),
    "not HTTP": saying(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "HTTP 0.9": saying(b"<html>hello</html>"),
    "a status of four digits": saying(b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n"),
    "less than promised": saying(headed("Content-Length: 10", body=b"half")),
    "a negative length": saying(headed("Content-Length: -1", body=b"x")),
    "two lengths": saying(headed("Content-Length: 1", "Content-Length: 2", body=b"xy")),
    "a chunk cut short": saying(headed("Transfer-Encoding: chunked", body=b"5\r\nhel")),
    "an odd chunk": saying(headed("Transfer-Encoding: chunked", body=b"zz\r\nhello\r\n0\r\n\r\n")),
    "a header with a null byte": saying(headed("X-Odd: a\x00b", "Content-Length: 0")),
    "a header without a name": saying(headed(": odd", "Content-Length: 0")),
    "a status line without end": endlessly(b"HTTP/1.1 200 ", b"a" * 4_096),
    "a header without end": endlessly(b"HTTP/1.1 200 OK\r\nX-Huge: ", b"a" * 4_096),
    "headers without end": endlessly(b"HTTP/1.1 200 OK\r\n", b"X-Again: a\r\n" * 100),
    "a huge header": saying(headed("X-Huge: " + "a" * 2_000_000, "Content-Length: 0")),
    "a chunk's size without end": endlessly(headed("Transfer-Encoding: chunked"), b"0" * 4_096),
    "trailers without end": endlessly(
        headed("Transfer-Encoding: chunked", body=b"0\r\n"), b"X-Again: a\r\n" * 100
    ),
}

LARGE = {
    "a long body": saying(headed("Content-Length: 200000", body=bytes(200_000))),
    "a body without end": endlessly(headed("Connection: close"), b"a" * 4_096),
    "chunks without end": endlessly(headed("Transfer-Encoding: chunked"), b"1\r\na\r\n" * 500),
    "a gzip bomb": saying(headed("Content-Encoding: gzip", body=gzip.compress(bytes(50_000_000)))),
    "a zlib bomb": saying(
        headed("Content-Encoding: deflate", body=zlib.compress(bytes(50_000_000)))
    ),
}

UNREADABLE = {
    "packed and cut short": saying(
        headed("Content-Encoding: gzip", body=gzip.compress(b"hello")[:-4])
    ),
    "packed twice": saying(headed("Content-Encoding: gzip, gzip", body=b"?")),
    "packed as nobody asked": saying(headed("Content-Encoding: zstd", body=b"?")),
    "said to be packed": saying(headed("Content-Encoding: gzip", body=b"hello")),
}


async def answered(script, **more) -> None:
    with answering(script) as server:
        await GuardedEgress(dev_origins=[server.url]).send(
            get(f"{server.url}/", max_bytes=100_000, **more)
        )


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW.keys())
async def test_t10_who_is_slow_is_left_at_the_deadline(script):
    with pytest.raises(TimedOut):
        await answered(script, timeout_s=0.3)


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN.keys())
async def test_t10_what_is_no_answer_is_refused_without_waiting_for_its_end(script):
    with pytest.raises(Unavailable) as refused:
        await answered(script)

    assert not isinstance(refused.value, TimedOut)


@pytest.mark.parametrize("script", LARGE.values(), ids=LARGE.keys())
async def test_t10_what_is_too_large_is_not_read_to_its_end(script):
    with pytest.raises(TooLarge):
        await answered(script)


@pytest.mark.parametrize("script", UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_t10_what_cannot_be_unpacked_is_unreadable(script):
    with pytest.raises(Unreadable):
        await answered(script)


@pytest.mark.parametrize(
    "content_type", ["image/png", "application/octet-stream", "multipart/mixed; boundary=a", "?"]
)
async def test_t10_another_type_than_asked_for_is_refused(content_type):
    script = saying(headed(f"Content-Type: {content_type}", "Content-Length: 5", body=b"hello"))

    with pytest.raises(Unreadable):
        await answered(script, accepts=("application/json", "text/*"))


@pytest.mark.parametrize(
    "head",
    [
        headed("Content-Type: application/json; charset=utf-8", "Content-Length: 0"),
        headed("Content-Type: Text/Plain", "Content-Length: 0"),
        headed("Content-Type: application/problem+json", "Content-Length: 0"),
        headed("Content-Length: 0"),
        b"HTTP/1.1 404 Not Found\r\nContent-Type: image/png\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_t10_a_type_that_was_asked_for_passes_and_so_does_a_failure_of_any(head):
    await answered(saying(head), accepts=("application/json", "text/*"))


async def test_t10_a_header_that_a_stranger_had_a_part_in_cannot_add_another(world):
    app, _, roads = world
    with naming([PUBLIC]) as names:
        request = EgressRequest(
            method="GET",
            url="https://app.example.com/",
            headers={"x-session": "1\r\nx-evil: 1"},
        )

        with pytest.raises(NotAllowed):
            await GuardedEgress(resolve=names.resolve, transport=roads).send(request)

    assert app.heard == []
