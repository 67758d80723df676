"""Route of crisis contacts: whom somebody in need can call, from our table alone."""

from functions.chat.deps import ChatDeps
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.safety.crisis_plan import CrisisResource, load_resources


class CrisisContactOut(Wire):
    """Whom to call in a `country` (ISO 3166), or in any where it is empty, and the page that says so.

    `also` is another way to reach them, `hours` when, as they write it, and `checked` the day on which the page was read.
    """

    country: str
    name: str
    contact: str
    also: str
    hours: str
    source: str
    checked: str

    @classmethod
    def of(cls, row: CrisisResource) -> "CrisisContactOut":
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


@route("GET", "/v2/crisis-contacts", "List whom somebody in need can call, for all countries")
async def list_crisis_contacts(_: ChatDeps, __: Call) -> list[CrisisContactOut]:
    return [CrisisContactOut.of(row) for row in load_resources()]


ROUTES = (list_crisis_contacts,)
