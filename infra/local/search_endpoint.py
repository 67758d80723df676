"""Search endpoint of the local server: whether search compares meanings, and how far that has come."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from infra.local.meanings import Meanings
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.domain.errors import CallerError, NotAuthenticated
from shared.edge.declare.problems import to_problem
from shared.ports import Identity


class SearchEndpoint:
    """Counts the passages of who asks, and nobody else's."""

    def __init__(self, identity: Identity, vectors: SqliteVectors, meanings: Meanings) -> None:
        self._identity = identity
        self._vectors = vectors
        self._meanings = meanings

    async def describe(self, request: Request) -> Response:
        """Answer `GET /local/search`."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        try:
            if scheme.lower() != "bearer":
                raise NotAuthenticated("Send a token, as every other route asks for.")
            uid = (await self._identity.verify(token)).uid
        except CallerError as error:
            return to_problem(error)
        answer = {
            "embedder": self._meanings.find_comparison(),
            "embedded_count": await self._vectors.count_embedded(uid),
            "waiting_count": await self._vectors.count_waiting(uid),
        }
        return JSONResponse(answer, headers={"Cache-Control": "no-store"})
