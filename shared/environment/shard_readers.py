"""Hosts of the vector index: one for all buckets of users, or one for each range of them."""

import re
from collections.abc import Mapping

from shared.domain.store.vector_home import BUCKETS, Shard
from shared.environment.variables import (
    Environment,
    Reader,
    parse_items,
    read_all,
    refuse,
    variable,
)


def read_shards(env: Environment) -> tuple[Shard, ...]:
    """Read the hosts of each range of buckets; one host has all of them."""
    readers = {
        "sparse": _bucket_hosts("PINECONE_SPARSE_HOST"),
        "dense": _bucket_hosts("PINECONE_DENSE_HOST"),
    }
    hosts, errors = read_all(readers, env)
    refuse(errors)
    sparse, dense = hosts["sparse"], hosts["dense"]
    if sparse and dense and sparse.keys() != dense.keys():
        raise ValueError(
            "PINECONE_DENSE_HOSTS: want the same ranges of buckets as PINECONE_SPARSE_HOSTS"
        )
    return tuple(
        Shard(first=buckets[0], last=buckets[-1], sparse_host=host, dense_host=dense.get(buckets))
        for buckets, host in sparse.items()
    )


def _bucket_hosts(name: str) -> Reader[Mapping[range, str]]:
    def read(env: Environment) -> Mapping[range, str]:
        host = env.get(name)
        one = {range(BUCKETS): host} if host else {}
        return variable(
            f"{name}S",
            _parse_bucket_hosts,
            one,
            "want first-last=host, separated by commas, with each bucket from 0 to"
            f" {BUCKETS - 1} in one range",
            shows_text=False,
        )(env)

    return read


def _parse_bucket_hosts(text: str) -> dict[range, str]:
    if not all(re.fullmatch(r"\d{1,4}-\d{1,4}=\S+", item) for item in parse_items(text)):
        raise ValueError(text)
    pairs = [item.partition("=") for item in parse_items(text)]
    hosts = [(_parse_buckets(buckets), host) for buckets, _, host in pairs]
    found = sorted(bucket for buckets, _ in hosts for bucket in buckets)
    if not (all(buckets for buckets, _ in hosts) and found == list(range(BUCKETS))):
        raise ValueError(text)
    return dict(hosts)


def _parse_buckets(text: str) -> range:
    first, last = text.split("-")
    return range(int(first), int(last) + 1)
