"""Custom agents of a user, and the links by which others copy them."""

from dataclasses import replace
from datetime import datetime

from shared.data.codec import dump, load
from shared.data.records import Records
from shared.domain.custom_agent import MAX_AGENTS, CustomAgent, SharedAgent, copy_shared_agent
from shared.domain.documents import Delete, Document, Set, Update, Write
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import AgentId, UserId, is_id
from shared.ports import Transaction

NOT_SHARED = "This agent is not shared."


class CustomAgents(Records[CustomAgent]):
    """A user's agents.

    Their ids stand in one document, so that the limit holds under concurrency. Links stand at the
    top, because whoever has one does not know its owner; the agent names its token too, and a link
    holds only while both say the same.
    """

    kind = CustomAgent
    collection = "agents"
    noun = "Agent"

    async def find(self, uid: UserId, agent_id: AgentId) -> CustomAgent | None:
        document = await self._documents.get(self.document_path(uid, agent_id))
        return load(CustomAgent, document) if document else None

    async def create(self, uid: UserId, agent: CustomAgent) -> CustomAgent:
        """Store an agent, once: what is stored already under its id is returned. Raises Conflict."""

        async def work(tx: Transaction) -> CustomAgent:
            path = self.document_path(uid, agent.id)
            stored, listed = await tx.get_many([path, _ids_path(uid)])
            if stored is not None:
                return load(CustomAgent, stored)
            ids = _read_ids(listed)
            if len(ids) >= MAX_AGENTS:
                raise Conflict(f"You may have {MAX_AGENTS} agents; delete one first.")
            tx.write(Set(path, dump(agent)), _build_ids_write(uid, [*ids, agent.id]))
            return agent

        return await self._documents.transaction(work)

    async def delete(self, uid: UserId, agent_id: str) -> None:
        """Delete an agent and its link. Raises NotFound."""
        path = self._build_valid_path(uid, agent_id)

        async def work(tx: Transaction) -> None:
            document, listed = await tx.get_many([path, _ids_path(uid)])
            agent = self._load(document)
            ids = [known for known in _read_ids(listed) if known != agent_id]
            tx.write(Delete(path), _build_ids_write(uid, ids))
            if agent.share_token is not None:
                tx.write(Delete(_link_path(agent.share_token)))

        await self._documents.transaction(work)

    async def share(self, uid: UserId, agent_id: str, new_token: str) -> str:
        """Make a link and return its token; a link that there is keeps its own. Raises NotFound."""
        path = self._build_valid_path(uid, agent_id)

        async def work(tx: Transaction) -> str:
            agent = self._load(await tx.get(path))
            token = agent.share_token or new_token
            link = SharedAgent(id=token, uid=uid, agent_id=agent.id)
            tx.write(Update(path, {"share_token": token}), Set(_link_path(token), dump(link)))
            return token

        return await self._documents.transaction(work)

    async def unshare(self, uid: UserId, agent_id: str) -> None:
        """End the link for good; copies that were made stay. Raises NotFound."""
        path = self._build_valid_path(uid, agent_id)

        async def work(tx: Transaction) -> None:
            agent = self._load(await tx.get(path))
            if agent.share_token is not None:
                tx.write(Update(path, {"share_token": None}), Delete(_link_path(agent.share_token)))

        await self._documents.transaction(work)

    async def get_shared(self, token: str) -> tuple[UserId, CustomAgent]:
        """Return the agent that a link leads to, and whose it is. Raises NotFound."""
        document = await self._documents.get(_link_path(token)) if is_id(token) else None
        if document is None:
            raise NotFound(NOT_SHARED)
        link = load(SharedAgent, document)
        agent = await self.find(link.uid, link.agent_id)
        if agent is None or agent.share_token != token:
            raise NotFound(NOT_SHARED)
        return link.uid, agent

    async def add_shared(self, uid: UserId, token: str, *, now: datetime) -> CustomAgent:
        """Copy a shared agent, once for each user; an owner gets their own. Raises NotFound."""
        owner, agent = await self.get_shared(token)
        if owner == uid:
            return agent
        return await self.create(uid, copy_shared_agent(agent, token, uid, now))

    async def restore(self, uid: UserId, agent: CustomAgent) -> None:
        """Store an agent of an export as words of others, unless its id is taken or there is no room."""

        async def work(tx: Transaction) -> None:
            path = self.document_path(uid, agent.id)
            stored, listed = await tx.get_many([path, _ids_path(uid)])
            ids = _read_ids(listed)
            if stored is None and len(ids) < MAX_AGENTS:
                restored = replace(agent, is_foreign=True, share_token=None)
                tx.write(Set(path, dump(restored)), _build_ids_write(uid, [*ids, agent.id]))

        await self._documents.transaction(work)

    def _load(self, document: Document | None) -> CustomAgent:
        """Raises NotFound."""
        if document is None:
            raise NotFound("Agent not found")
        return load(CustomAgent, document)


def _read_ids(document: Document | None) -> list[AgentId]:
    return list(document.fields["ids"]) if document else []


def _build_ids_write(uid: UserId, ids: list[AgentId]) -> Write:
    return Set(_ids_path(uid), {"ids": ids})


def _ids_path(uid: UserId) -> str:
    return f"users/{uid}/limits/agents"


def _link_path(token: str) -> str:
    return f"shared_agents/{token}"
