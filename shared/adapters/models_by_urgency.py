"""Models by urgency: what nobody waits for goes to a model that may take minutes and costs less.

Also called: flex processing.
"""

from shared.adapters.shared_model import ask_as
from shared.adapters.single_place import SinglePlace, UrgentModel, YieldingModel
from shared.domain.ids import UserId
from shared.domain.models.model import ModelFacts, ModelRole, Urgency
from shared.ports import ChatModel


class ModelsByUrgency:
    """The same models for all users. Both know the same roles, by the same names.

    Where a server answers one request at a time, what can wait makes way for what somebody waits for.
    """

    def __init__(self, model: ChatModel, patient_model: ChatModel) -> None:
        self._model = model
        self._patient_model = patient_model
        self._place = SinglePlace()

    def name(self, role: ModelRole) -> str:
        return self._model.name(role)

    def describe(self, role: ModelRole) -> ModelFacts:
        return self._model.describe(role)

    def check_room(self, uid: UserId) -> None:
        """Let everybody in: nothing is admitted here."""

    def is_short(self) -> bool:
        """Nothing waits here."""
        return False

    def for_user(
        self, uid: UserId, *, is_masked: bool, chat: str = "", urgency: Urgency = "now"
    ) -> ChatModel:
        model = ask_as(self._patient_model if urgency == "later" else self._model, uid)
        if model.describe("agent").places != 1:
            return model
        is_urgent = urgency in ("crisis", "now")
        return (UrgentModel if is_urgent else YieldingModel)(model, self._place)
