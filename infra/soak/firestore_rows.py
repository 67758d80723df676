"""Rows of a soak on Firestore's emulator, read past every link."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from shared.adapters.trust_store import load_trust_store

PAGE_SIZE = 300
OWNER = {"Authorization": "Bearer owner"}
TIMEOUT_S = 60.0


def load_rows(address: str, project: str, collection: str) -> Iterator[dict[str, Any]]:
    """Yield the fields of every document of a collection."""
    url = f"{_build_url(address, project)}/{collection}"
    params: dict[str, str | int] = {"pageSize": PAGE_SIZE}
    while True:
        page = _send("GET", url, params=params)
        for document in page.get("documents", ()):
            yield _read_fields(document)
        if "nextPageToken" not in page:
            return
        params["pageToken"] = page["nextPageToken"]


def count_rows(address: str, project: str) -> int:
    """Count the documents of all collections."""
    query = {
        "structuredQuery": {"from": [{"allDescendants": True}]},
        "aggregations": [{"alias": "rows", "count": {}}],
    }
    url = f"{_build_url(address, project)}:runAggregationQuery"
    [result] = _send("POST", url, json={"structuredAggregationQuery": query})
    return int(result["result"]["aggregateFields"]["rows"]["integerValue"])


def _read_fields(fields_of: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _read_value(value) for name, value in fields_of.get("fields", {}).items()}


def _read_value(value: Mapping[str, Any]) -> Any:
    """Undo the JSON form of a value; times stay texts."""
    [(kind, content)] = value.items()
    match kind:
        case "mapValue":
            return _read_fields(content)
        case "arrayValue":
            return [_read_value(item) for item in content.get("values", ())]
        case "integerValue":
            return int(content)
        case _:
            return content


def _send(method: str, url: str, **request: Any) -> Any:
    answer = httpx.request(
        method, url, headers=OWNER, timeout=TIMEOUT_S, verify=load_trust_store(), **request
    )
    return answer.raise_for_status().json()


def _build_url(address: str, project: str) -> str:
    return f"http://{address}/v1/projects/{project}/databases/(default)/documents"
