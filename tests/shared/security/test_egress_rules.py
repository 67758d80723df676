"""Egress rules, as tables of URLs, addresses and headers."""

import pytest

from shared.domain.errors import NotAllowed
from shared.security.egress_rules import (
    EgressRules,
    Target,
    find_address_refusal,
    find_header_refusal,
    find_local_origin,
)

RULES = EgressRules(own_origins=["https://api.keepsake.app", "http://127.0.0.1:8080"])

REFUSED_URLS = {
    "plain http": "http://app.example.com/tool",
    "another scheme": "ftp://app.example.com/",
    "a file": "file:///etc/passwd",
    "gopher": "gopher://app.example.com:443/_",
    "no scheme": "app.example.com/tool",
    "scheme-relative": "//app.example.com/tool",
    "one slash": "https:/app.example.com/",
    "three slashes": "https:///app.example.com/",
    "empty": "",
    "no host": "https://",
    "another port": "https://app.example.com:8443/",
    "ssh port": "https://app.example.com:22/",
    "port 0": "https://app.example.com:0/",
    "port out of range": "https://app.example.com:65979/",
    "empty port": "https://app.example.com:/",
    "signed port": "https://app.example.com:+443/",
    "userinfo": "https://app.example.com@169.254.169.254/",
    "userinfo with password": "https://user:pass@app.example.com/",
    "userinfo hiding a port": "https://app.example.com:443@127.0.0.1/",
    "encoded userinfo": "https://app.example.com%40127.0.0.1/",
    "backslash before the path": "https://app.example.com\\@127.0.0.1/",
    "backslashes for slashes": "https:\\\\127.0.0.1\\",
    "a tab in the host": "https://127.0\t.0.1/",
    "a line break": "https://app.example.com/\r\nHost: evil",
    "a leading space": " https://app.example.com/",
    "a space in the path": "https://app.example.com/a b",
    "a null byte": "https://app.example.com\x00.evil.com/",
    "an encoded null byte": "https://127.0.0.1%00.example.com/",
    "a fragment": "https://app.example.com#@127.0.0.1/",
    "public dotted IPv4": "https://8.8.8.8/",
    "loopback": "https://127.0.0.1/",
    "metadata": "https://169.254.169.254/latest/meta-data/",
    "decimal IPv4": "https://2130706433/",
    "octal IPv4": "https://0177.0.0.1/",
    "padded octal IPv4": "https://00000177.00000000.00000000.00000001/",
    "hex IPv4": "https://0x7f000001/",
    "dotted hex IPv4": "https://0x7f.0x0.0x0.0x1/",
    "hex last part": "https://127.0.0.0x1/",
    "mixed IPv4": "https://0x7f.0.1/",
    "short IPv4": "https://127.1/",
    "zero": "https://0/",
    "zero address": "https://0.0.0.0/",
    "overflowing IPv4": "https://383.254.169.254/",
    "IPv4 with a trailing dot": "https://127.0.0.1./",
    "IPv6 loopback": "https://[::1]/",
    "IPv6 any": "https://[::]/",
    "IPv6 public": "https://[2606:4700::6810:84e5]/",
    "IPv4-mapped": "https://[::ffff:169.254.169.254]/",
    "zone": "https://[fe80::1%25eth0]/",
    "IPv6 without brackets": "https://::1/",
    "localhost": "https://localhost/",
    "below localhost": "https://app.localhost/",
    "localdomain": "https://localhost.localdomain/",
    "upper-case localhost": "https://LOCALHOST/",
    "trailing dot": "https://app.example.com./",
    "localhost with a trailing dot": "https://localhost./",
    "a single label": "https://metadata/",
    "metadata name": "https://metadata.google.internal/computeMetadata/v1/",
    "upper-case metadata name": "https://Metadata.Google.Internal/",
    "short metadata name": "https://metadata.goog/",
    "instance data": "https://instance-data.ec2.internal/",
    "cluster service": "https://kubernetes.default.svc/",
    "cluster name": "https://api.default.svc.cluster.local/",
    "multicast DNS": "https://printer.local/",
    "home network": "https://router.lan/",
    "home.arpa": "https://router.home.arpa/",
    "reverse lookup": "https://1.0.0.127.in-addr.arpa/",
    "onion": "https://abcdefghijklmnop.onion/",
    "empty label": "https://app..example.com/",
    "leading dot": "https://.example.com/",
    "leading dash": "https://-app.example.com/",
    "trailing dash": "https://app-.example.com/",
    "numeric top level": "https://app.example.123/",
    "hex top level": "https://app.example.0x7f/",
    "circled letters": "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "full-width digits": "https://１２７.０.０.１/",
    "ideographic full stop": "https://127。0。0。1/",
    "full-width stop": "https://app．example．com/",
    "Cyrillic lookalike": "https://аpp.example.com/",
    "soft hyphen": "https://local\u00adhost/",
    "zero-width space": "https://127.0.0.1\u200b.example.com/",
    "Kelvin sign": "https://app.example.com\u212a/",
    "a label over 63 letters": f"https://{'a' * 64}.example.com/",
    "a name over 253 letters": f"https://{'a.' * 130}com/",
    "an endless path": f"https://app.example.com/{'a' * 20_000}",
    "websocket": "wss://app.example.com/",
    "a data address": "data:text/html,hello",
    "a script": "javascript:alert(1)//app.example.com/",
    "a dictionary server": "dict://app.example.com:443/",
    "a directory server": "ldap://app.example.com/",
    "a prefixed scheme": "url:https://app.example.com/",
    "a view of source": "view-source:https://app.example.com/",
    "a scheme cut by a line break": "ht\ntps://app.example.com/",
    "a scheme with the long s": "http\u017f://app.example.com/",
    "userinfo only": "https://@127.0.0.1/",
    "userinfo behind an encoded slash": "https://app.example.com%2f@127.0.0.1/",
    "userinfo behind a question mark in it": "https://a:b?c@127.0.0.1/",
    "two at signs": "https://app.example.com@8.8.8.8@127.0.0.1/",
    "userinfo in full width": "https://app.example.com\uff20127.0.0.1/",
    "a backslash as at sign's friend": "https://127.0.0.1\\@app.example.com/",
    "a backslash in the path": "https://app.example.com/\\127.0.0.1/",
    "a full-width slash": "https://app.example.com\uff0f.127.0.0.1/",
    "a full-width colon": "https://app.example.com\uff1a443/",
    "a full-width question mark": "https://127.0.0.1\uff1f.example.com/",
    "account-of sign, which IDNA opens into slashes": "https://127.0.0.1\u2100.example.com/",
    "fraction, which IDNA opens into a slash": "https://127.0.0.1\u2044.example.com/",
    "half-width ideographic stop": "https://127\uff610\uff610\uff611/",
    "circled digits": "https://①②⑦.⓪.⓪.①/",
    "superscript digits": "https://¹²⁷.0.0.1/",
    "Arabic digits": "https://١٢٧.٠.٠.١/",
    "mathematical letters": "https://𝓁𝑜𝒸𝒶𝓁𝒽𝑜𝓈𝓉/",
    "German sharp s, which two standards read twice": "https://faß.example.com/",
    "zero-width joiner": "https://lo\u200dcalhost/",
    "a byte order mark": "\ufeffhttps://app.example.com/",
    "right-to-left override": "https://\u202emoc.elpmaxe.ppa/",
    "an encoded host": "https://%6c%6f%63%61%6c%68%6f%73%74/",
    "encoded dots": "https://127%2e0%2e0%2e1/",
    "a doubly encoded host": "https://%25%36%63ocalhost/",
    "an underscore": "https://_metadata.example.com/",
    "a wildcard": "https://*.example.com/",
    "a list of hosts": "https://app.example.com,127.0.0.1/",
    "a trailing colon": "https://app.example.com:443:/",
    "two ports": "https://app.example.com:443:8080/",
    "a port with a space": "https://app.example.com: 443/",
    "a hexadecimal port": "https://app.example.com:0x1bb/",
    "a port in other digits": "https://app.example.com:\u0664\u0664\u0663/",
    "a port of six digits": "https://app.example.com:000443/",
    "a negative port": "https://app.example.com:-443/",
    "the database's port": "https://app.example.com:6379/",
    "http's port over https": "https://app.example.com:80/",
    "https's port over http": "http://app.example.com:443/",
    "a vertical tab": "https://app.example.com/\x0b",
    "a form feed in the host": "https://app\x0c.example.com/",
    "delete": "https://app.example.com/\x7f",
    "next line": "https://app.example.com/\x85",
    "a line separator": "https://app.example.com/\u2028",
    "a lone line feed": "https://app.example.com/\nX-Evil: 1",
    "a lone carriage return": "https://app.example.com/\rX-Evil: 1",
    "a trailing line break": "https://app.example.com/\n",
    "a line break in the query": "https://app.example.com/?a=b\r\n\r\nGET / HTTP/1.1",
    "a trailing space": "https://app.example.com/ ",
    "an umlaut in the path": "https://app.example.com/ä",
    "IPv4 with a space": "https://127.0.0.1 .example.com/",
    "IPv4 as one octal number": "https://017700000001/",
    "IPv4 in more than 32 bits": "https://4294967297/",
    "hex IPv4 in more than 32 bits": "https://0x17f000001/",
    "three parts": "https://127.0.1/",
    "five parts": "https://1.127.0.0.1/",
    "IPv4 with an empty part": "https://127..0.1/",
    "IPv4 with a sign": "https://+127.0.0.1/",
    "mapped in brackets, in hex": "https://[::ffff:a9fe:a9fe]/",
    "NAT64 in brackets": "https://[64:ff9b::a9fe:a9fe]/",
    "6to4 in brackets": "https://[2002:a9fe:a9fe::]/",
    "ULA in brackets": "https://[fd00:ec2::254]/",
    "a plain zone": "https://[fe80::1%eth0]/",
    "a future address": "https://[v1.fe80::a]/",
    "an IPv4 in brackets": "https://[127.0.0.1]/",
    "a name in brackets": "https://[localhost]/",
    "an open bracket": "https://[::1/",
    "text behind the bracket": "https://[::1].example.com/",
    "two trailing dots": "https://app.example.com../",
    "metadata name with a trailing dot": "https://metadata.google.internal./",
    "another cloud's metadata name": "https://metadata.azure.internal/",
    "the container host": "https://host.docker.internal/",
    "the cluster's host": "https://kubernetes.default.svc.cluster.local/",
    "a service register": "https://vault.service.consul/",
    "reserved for tests": "https://app.test/",
    "an intranet": "https://wiki.intra/",
    "an alternative root": "https://name.alt/",
    "reverse lookup of IPv6": "https://1.0.0.0.ip6.arpa/",
    "only a dot": "https://./",
    "our own origin below a path": "https://api.keepsake.app/v1/../v1/apps",
    "our own origin with a trailing dot": "https://api.keepsake.app./v1/apps",
    "our own origin": "https://api.keepsake.app/v1/apps",
    "our own origin, shouted": "HTTPS://API.KEEPSAKE.APP:443/",
    "our own server by another scheme": "http://api.keepsake.app:443/",
}

REFUSED_ADDRESSES = {
    "this network": "0.0.0.0",  # noqa: S104 - nothing binds
    "this network, not zero": "0.1.2.3",
    "private 10": "10.1.2.3",
    "private 172": "172.16.0.1",
    "private 172, end": "172.31.255.255",
    "private 192": "192.168.1.1",
    "loopback": "127.0.0.1",
    "loopback, end": "127.255.255.254",
    "link-local": "169.254.1.1",
    "metadata": "169.254.169.254",
    "container metadata": "169.254.170.2",
    "CGNAT": "100.64.0.1",
    "CGNAT metadata": "100.100.100.200",
    "CGNAT, end": "100.127.255.255",
    "cloud host agent": "168.63.129.16",
    "protocol assignments": "192.0.0.192",
    "documentation 1": "192.0.2.1",
    "documentation 2": "198.51.100.7",
    "documentation 3": "203.0.113.9",
    "benchmarking": "198.19.255.255",
    "6to4 relay": "192.88.99.1",
    "AS112": "192.175.48.6",
    "multicast": "224.0.0.251",
    "multicast, end": "239.255.255.250",
    "reserved": "240.0.0.1",
    "broadcast": "255.255.255.255",
    "IPv6 any": "::",
    "IPv6 loopback": "::1",
    "mapped loopback": "::ffff:127.0.0.1",
    "mapped metadata": "::ffff:169.254.169.254",
    "mapped metadata in hex": "::ffff:a9fe:a9fe",
    "mapped CGNAT": "::ffff:100.64.0.1",
    "mapped public": "::ffff:8.8.8.8",
    "compatible loopback": "::127.0.0.1",
    "compatible metadata": "::169.254.169.254",
    "translated": "::ffff:0:127.0.0.1",
    "NAT64 metadata": "64:ff9b::169.254.169.254",
    "NAT64 public": "64:ff9b::8.8.8.8",
    "local NAT64": "64:ff9b:1::a9fe:a9fe",
    "6to4 loopback": "2002:7f00:1::",
    "6to4 metadata": "2002:a9fe:a9fe::1",
    "Teredo": "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "ORCHID": "2001:10::1",
    "ORCHID 2": "2001:20::1",
    "IPv6 benchmarking": "2001:2::1",
    "IPv6 documentation": "2001:db8::1",
    "IPv6 documentation 2": "3fff::1",
    "ULA": "fc00::1",
    "ULA metadata": "fd00:ec2::254",
    "link-local v6": "fe80::1",
    "link-local v6 with a zone": "fe80::1%eth0",
    "public with a zone": "2606:4700::1%eth0",
    "site-local": "fec0::1",
    "multicast v6": "ff02::1",
    "discard": "100::1",
    "unassigned": "4000::1",
    "segment routing": "5f00::1",
    "translated metadata": "::ffff:0:a9fe:a9fe",
    "NAT64 with zeroes": "64:ff9b:0:0:0:0:7f00:1",
    "local NAT64 within": "64:ff9b:1:ffff::a00:1",
    "6to4 private": "2002:c0a8:101::1",
    "6to4 of a public address": "2002:808:808::1",
    "Teredo to metadata": "2001:0:a9fe:a9fe::1",
    "ISATAP loopback": "2606:4700::5efe:7f00:1",
    "ISATAP private": "2606:4700::5efe:10.0.0.1",
    "ISATAP metadata, marked global": "2606:4700::200:5efe:a9fe:a9fe",
    "ISATAP on a link": "fe80::5efe:192.168.1.1",
    "AS112 in IPv6": "2620:4f:8000::42",
    "AMT": "2001:3::1",
    "direct delegation of AS112": "192.31.196.1",
    "multicast tunnel": "192.52.193.1",
    "protocol assignments, end": "192.0.0.255",
    "shared range's first": "100.64.0.0",
    "ULA, end": "fdff:ffff::1",
    "multicast of one's own machine": "ff01::1",
    "multicast everywhere": "ff0e::1",
    "below global unicast": "1fff:ffff::1",
    "above global unicast": "4000:0:0:1::",
    "mapped with a zone": "::ffff:127.0.0.1%lo",
    "an address with a port": "8.8.8.8:80",
    "an address in brackets": "[2606:4700::1]",
    "a network": "8.8.8.0/24",
    "with a space": " 8.8.8.8",
    "with a line break": "8.8.8.8\n",
    "padded": "008.008.008.008",
    "decimal": "2130706433",
    "octal": "0177.0.0.1",
    "a name": "localhost",
    "nothing": "",
}


@pytest.mark.parametrize("url", REFUSED_URLS.values(), ids=REFUSED_URLS.keys())
def test_an_address_that_is_not_plainly_public_is_refused_t10(url):
    with pytest.raises(NotAllowed):
        RULES.validate_url(url)


@pytest.mark.parametrize("address", REFUSED_ADDRESSES.values(), ids=REFUSED_ADDRESSES.keys())
def test_a_resolved_address_that_is_not_public_is_refused_t10(address):
    assert find_address_refusal(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.215.14",
        "100.128.0.1",
        "172.32.0.1",
        "2606:4700::6810:84e5",
        "2606:4700::5eff:7f00:1",
    ],
)
def test_a_public_address_is_allowed(address):
    assert find_address_refusal(address) is None


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://app.example.com", ("app.example.com", "/")),
        ("HTTPS://App.Example.COM:443/a?b=c", ("app.example.com", "/a?b=c")),
        ("https://app.example.com?b=c", ("app.example.com", "/?b=c")),
        ("https://xn--bcher-kva.example/", ("xn--bcher-kva.example", "/")),
        ("https://127.0.0.1.nip.io/", ("127.0.0.1.nip.io", "/")),
        ("https://app.example.com?@127.0.0.1/", ("app.example.com", "/?@127.0.0.1/")),
        ("https://app.example.com/@127.0.0.1:80/", ("app.example.com", "/@127.0.0.1:80/")),
        ("https://app.example.com//127.0.0.1/", ("app.example.com", "//127.0.0.1/")),
    ],
)
def test_a_public_name_over_https_is_allowed(url, target):
    host, path = target

    assert RULES.validate_url(url) == Target(scheme="https", host=host, port=443, path=path)


def test_a_development_origin_is_allowed_only_exactly_as_listed():
    rules = EgressRules(dev_origins=["http://127.0.0.1:9000"])

    assert rules.validate_url("http://127.0.0.1:9000/tool").trusted
    for near_miss in (
        "https://127.0.0.1:9000/",
        "http://127.0.0.1:9001/",
        "http://localhost:9000/",
    ):
        with pytest.raises(NotAllowed):
            rules.validate_url(near_miss)


@pytest.mark.parametrize(
    "own",
    ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080", "http://0.0.0.0:8080"],
)
def test_a_development_origin_is_never_our_own_by_any_name(own):
    rules = EgressRules(dev_origins=["http://127.0.0.1:8080"], own_origins=[own])

    with pytest.raises(NotAllowed, match="our own"):
        rules.validate_url("http://127.0.0.1:8080/v1/apps")


ALLOWED = ["http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000"]


@pytest.mark.parametrize("origin", ALLOWED)
def test_an_origin_of_this_machine_is_allowed_to_a_call_that_names_it(origin: str) -> None:
    rules = EgressRules(allows_local=True)

    assert rules.validate_url(f"{origin}/tool", [origin]).trusted
    assert find_local_origin(f"{origin}/tool?q=1") == origin


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("http://127.0.0.1:3001/", ALLOWED),
        ("http://127.0.0.1:8080/", ["http://127.0.0.1:8080"]),
        ("http://localhost:8080/", ["http://localhost:8080"]),
        ("http://10.0.0.7:3000/", ["http://10.0.0.7:3000"]),
        ("http://169.254.169.254/", ["http://169.254.169.254"]),
        ("http://0.0.0.0:3000/", ["http://0.0.0.0:3000"]),
        ("http://app.localhost:3000/", ["http://app.localhost:3000"]),
        ("http://intranet:3000/", ["http://intranet:3000"]),
    ],
)
def test_no_other_origin_is_allowed_by_being_named(url: str, named: list[str]) -> None:
    rules = EgressRules(allows_local=True, own_origins=["http://127.0.0.1:8080"])

    with pytest.raises(NotAllowed):
        rules.validate_url(url, named)


def test_an_origin_of_this_machine_is_never_allowed_in_a_deployment() -> None:
    with pytest.raises(NotAllowed):
        EgressRules().validate_url("http://127.0.0.1:3000/", ALLOWED)


@pytest.mark.parametrize("text", ["127.0.0.1:9000", "http://127.0.0.1:9000/path", "http://a/", "*"])
def test_a_malformed_origin_is_refused_at_start(text):
    with pytest.raises(ValueError, match="not an origin"):
        EgressRules(dev_origins=[text])


def test_the_host_header_names_a_port_only_where_it_is_unusual():
    rules = EgressRules(dev_origins=["http://127.0.0.1:9000"])

    assert rules.validate_url("http://127.0.0.1:9000/").authority == "127.0.0.1:9000"
    assert rules.validate_url("https://app.example.com/").authority == "app.example.com"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x-session", "1\r\nX-Evil: 1"),
        ("x-session", "1\nX-Evil: 1"),
        ("x-session", "a\x00b"),
        ("x-session", "é"),
        ("x-session\r\nx-evil", "1"),
        ("x session", "1"),
        ("", "1"),
    ],
)
def test_a_header_with_forbidden_characters_is_refused_t10(name, text):
    assert find_header_refusal({"accept": "*/*", name: text})


def test_a_plain_header_is_allowed():
    assert (
        find_header_refusal({"Authorization": "Bearer a.b-c_d=", "x-1": "\ttab and space "}) is None
    )


def test_at_least_150_bypass_attempts_are_refused_t10():
    assert len({*REFUSED_URLS.values()}) + len({*REFUSED_ADDRESSES.values()}) >= 150
