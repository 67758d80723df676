"""Rows of a soak on Firestore's emulator, read past every link."""

from collections.abc import Iterator
from typing import Any

import httpx
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1._helpers import decode_dict

PAGE_SIZE = 300
OWNER = {"Authorization": "Bearer owner"}
TIMEOUT_S = 60.0


def load_rows(address: str, project: str, collection: str) -> Iterator[dict[str, Any]]:
    """Yield the fields of every document of a collection."""
    url = f"{_build_url(address, project)}/{collection}"
    params: dict[str, str | int] = {"pageSize": PAGE_SIZE}
    while True:
        answer = httpx.get(url, params=params, headers=OWNER, timeout=TIMEOUT_S)
        page = types.ListDocumentsResponse.from_json(answer.raise_for_status().text)
        for document in page.documents:
            fields: Any = decode_dict(types.Document.pb(document).fields, None)
            yield fields
        if not page.next_page_token:
            return
        params["pageToken"] = page.next_page_token


def count_rows(address: str, project: str) -> int:
    """Count the documents of all collections."""
    query = {
        "structuredQuery": {"from": [{"allDescendants": True}]},
        "aggregations": [{"alias": "rows", "count": {}}],
    }
    answer = httpx.post(
        f"{_build_url(address, project)}:runAggregationQuery",
        json={"structuredAggregationQuery": query},
        headers=OWNER,
        timeout=TIMEOUT_S,
    )
    [result] = answer.raise_for_status().json()
    return int(result["result"]["aggregateFields"]["rows"]["integerValue"])


def _build_url(address: str, project: str) -> str:
    return f"http://{address}/v1/projects/{project}/databases/(default)/documents"
