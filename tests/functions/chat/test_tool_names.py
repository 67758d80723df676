"""Names of the built-in tools: none can be taken by an app (S3)."""

from zoneinfo import ZoneInfo

from functions.chat.tools.chart_tools import build_chart_tools
from functions.chat.tools.library_tools import build_library_tools
from functions.chat.tools.memory_tools import build_memory_tools
from functions.chat.tools.product_tools import build_product_tools
from functions.chat.tools.summary_tools import build_summary_tools
from functions.chat.tools.task_tools import build_task_tools
from functions.chat.tools.tool_offer import SEARCH_TOOL_NAME
from shared.security.reserved_names import OUR_NAMES
from tests.fixtures.chat import ADA, ChatFixture

UTC = ZoneInfo("UTC")


def test_every_built_in_tool_has_a_reserved_name_s3(world: ChatFixture) -> None:
    tools = [
        *build_library_tools(world.deps(), ADA, UTC),
        *build_memory_tools(world.deps(), ADA),
        *build_task_tools(world.deps(), ADA, UTC),
        *build_summary_tools(world.deps(), ADA),
        *build_chart_tools(),
        *build_product_tools(),
    ]

    assert {SEARCH_TOOL_NAME, *(tool.spec.name for tool in tools)} <= set(OUR_NAMES)
