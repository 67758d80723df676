"""Target of a deployment: project, region, environment, and the files that describe it."""

import re
from pathlib import Path

from shared.domain.value import value

ROOT = Path(__file__).parents[2]
TERRAFORM = ROOT / "infra/terraform"


@value
class Target:
    """Where a deployment goes; `environment` names the .tfvars files of both stacks."""

    project: str
    region: str
    firestore_location: str
    environment: str

    @property
    def state_bucket(self) -> str:
        return f"{self.project}-keepsake-state"

    def read_variable(self, stack: str, name: str) -> str:
        """Return a text or a number that the environment sets, or nothing."""
        text = (TERRAFORM / stack / f"{self.environment}.tfvars").read_text()
        return find_value(text, name)


def find_value(text: str, name: str) -> str:
    """Return the text or number of a variable in a .tfvars file, without the comment behind it; or nothing."""
    match = re.search(rf'^{name}[ \t]*=[ \t]*(?:"([^"\n]*)"|([^\s#]+))', text, re.MULTILINE)
    return (match[1] or match[2] or "") if match else ""


def list_environments() -> list[str]:
    return sorted(path.stem for path in (TERRAFORM / "foundation").glob("*.tfvars"))
