"""Custom agents of a user, and the links by which others copy them."""

from dataclasses import replace
from datetime import datetime

from shared.data.store.codec import dump, load
from shared.data.store.limited_records import LimitedRecords
from shared.domain.chats.custom_agent import MAX_AGENTS, CustomAgent, SharedAgent, copy_shared_agent
from shared.domain.errors import NotFound
from shared.domain.ids import UserId, is_id
from shared.domain.store.documents import Delete, Set, Update, Write
from shared.ports import Transaction

NOT_SHARED = "This agent is not shared."


class CustomAgents(LimitedRecords[CustomAgent]):
    """A user's agents.

    Links stand at the
    top, because whoever has one does not know its owner; the agent names its token too, and a link
    holds only while both say the same.
    """

    kind = CustomAgent
    collection = "agents"
    noun = "Agent"
    max_count = MAX_AGENTS

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

    def prepare_restored(self, record: CustomAgent) -> CustomAgent:
        """Count its text as words of others; a picture from a file could be anybody's."""
        return replace(record, is_foreign=True, share_token=None, picture="")

    def build_removals(self, record: CustomAgent) -> list[Write]:
        """Delete its link."""
        return [] if record.share_token is None else [Delete(_link_path(record.share_token))]


def _link_path(token: str) -> str:
    return f"shared_agents/{token}"
