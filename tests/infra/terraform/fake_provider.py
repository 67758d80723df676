"""Google's providers, faked: they know the recorded schema, make what is planned, and speak Terraform's plugin protocol 5.

github.com/hashicorp/terraform/blob/main/docs/plugin-protocol/tfplugin5.proto
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import msgpack  # type: ignore[import-untyped]  # it comes with cachecontrol, without types

from tests.infra.terraform.protobuf import Field, decode, encode
from tests.infra.terraform.record_schema import SCHEMA

RESOURCES: Mapping[str, Any] = json.loads(SCHEMA.read_text())
NAMES = ("google", "google-beta")
_UNKNOWN = msgpack.ExtType(0, b"\0")
_NESTED_LIST = 3
_GIVEN_OR_MADE = ("address", "id", "name")
"""What Google chooses where nobody does."""
_PROVIDER = {"billing_project": "string", "project": "string", "region": "string", "user_project_override": "bool"}  # fmt: skip


@contextmanager
def run_fake_provider() -> Iterator[str]:
    """Serve until the block is left; yields TF_REATTACH_PROVIDERS, by which Terraform finds it."""
    server = grpc.server(ThreadPoolExecutor(8))
    handlers = {name: _build_handler(answer) for name, answer in _ANSWERS.items()}
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("tfplugin5.Provider", handlers),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    place = {"Network": "tcp", "String": f"127.0.0.1:{port}"}
    attached = {"Protocol": "grpc", "ProtocolVersion": 5, "Pid": os.getpid(), "Test": True, "Addr": place}  # fmt: skip
    try:
        yield json.dumps({f"registry.terraform.io/hashicorp/{name}": attached for name in NAMES})
    finally:
        server.stop(None).wait()


def _build_handler(answer: Callable[[dict[int, bytes]], list[Field]]) -> grpc.RpcMethodHandler:
    handler: grpc.RpcMethodHandler = grpc.unary_unary_rpc_method_handler(
        lambda request, _: encode(answer(decode(request))),
        request_deserializer=bytes,
        response_serializer=bytes,
    )
    return handler


def _get_schema(_: dict[int, bytes]) -> list[Field]:
    provider = {"attributes": _PROVIDER, "blocks": {}, "required": []}
    return [
        (1, _write_schema(provider)),
        *((2, encode([(1, name), (2, _write_schema(block))])) for name, block in RESOURCES.items()),
    ]


def _write_schema(block: Mapping[str, Any]) -> bytes:
    return encode([(2, _write_block(block))])


def _write_block(block: Mapping[str, Any]) -> bytes:
    required, computed = block["required"], block.get("computed", {})
    fields: list[Field] = []
    for name, type_ in {**block["attributes"], **computed}.items():
        is_made = name in computed or ("computed" in block and name in _GIVEN_OR_MADE)
        fields.append((2, encode([
            (1, name), (2, json.dumps(type_)), (4, int(name in required)),
            (5, int(name not in required and name not in computed)), (6, int(is_made and name not in required)),
        ])))  # fmt: skip
    for name, nested in block["blocks"].items():
        fields.append((3, encode([
            (1, name), (2, _write_block(nested)), (3, _NESTED_LIST), (4, int(name in required)), (5, 0 if nested["many"] else 1),
        ])))  # fmt: skip
    return encode(fields)


def _prepare_config(request: dict[int, bytes]) -> list[Field]:
    return [(1, request[1])]


def _upgrade(request: dict[int, bytes]) -> list[Field]:
    state = json.loads(decode(request[3])[1])
    return [(1, _write_value(state))]


def _plan(request: dict[int, bytes]) -> list[Field]:
    """Leave open what is made by Google and not given."""
    block, planned = RESOURCES[request[1].decode()], _read_value(request[3])
    if planned is not None:
        made = {*block["computed"], *_GIVEN_OR_MADE} & planned.keys()
        planned |= {name: _UNKNOWN for name in made if planned[name] is None}
    return [(1, _write_value(planned)), (5, 1)]


def _apply(request: dict[int, bytes]) -> list[Field]:
    name, planned = request[1].decode(), _read_value(request[3])
    if planned is not None:
        types = {**RESOURCES[name]["attributes"], **RESOURCES[name]["computed"]}
        planned |= {
            key: _make_value(name, key, types[key], planned)
            for key, value in planned.items()
            if isinstance(value, msgpack.ExtType)
        }
    return [(1, _write_value(planned)), (4, 1)]


def _make_value(resource: str, key: str, type_: Any, planned: Mapping[str, Any]) -> Any:
    email = f"{planned.get('account_id') or 'agent'}@demo.iam.gserviceaccount.com"
    if isinstance(type_, list):
        return [] if type_[0] == "list" else {}
    texts = {"email": email, "member": f"serviceAccount:{email}", "address": "192.0.2.1"}
    values = {"number": 1, "bool": False, "string": texts.get(key, f"{resource}/{key}")}
    return values[type_]


def _import(request: dict[int, bytes]) -> list[Field]:
    name = request[1].decode()
    block = RESOURCES[name]
    state = dict.fromkeys((*block["attributes"], *block["computed"]))
    state |= {nested: [] for nested in block["blocks"]} | {"id": request[2].decode()}
    return [(1, encode([(1, name), (2, _write_value(state))]))]


def _read_value(message: bytes) -> Any:
    return msgpack.unpackb(decode(message)[1], ext_hook=msgpack.ExtType, strict_map_key=False)


def _write_value(value: Any) -> bytes:
    return encode([(1, msgpack.packb(value))])


_ANSWERS: Mapping[str, Callable[[dict[int, bytes]], list[Field]]] = {
    "GetSchema": _get_schema,
    "PrepareProviderConfig": _prepare_config,
    "ValidateResourceTypeConfig": lambda _: [],
    "UpgradeResourceState": _upgrade,
    "Configure": lambda _: [],
    "ReadResource": lambda request: [(1, request[2])],
    "PlanResourceChange": _plan,
    "ApplyResourceChange": _apply,
    "ImportResourceState": _import,
    "Stop": lambda _: [],
}
