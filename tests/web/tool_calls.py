"""Tool calls of the console's tests: apps that a user installed, and a model that calls their tools."""

import json
from typing import Any

from playwright.sync_api import BrowserContext

from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai
from tests.web.app_server import ADD_TOOL, LOOK_TOOL, ORDER_TOOL, AppServer, register_app
from tests.web.console import Console


def install_apps(
    console: Console, context: BrowserContext, app_server: AppServer
) -> dict[str, dict[str, Any]]:
    """Install a Library that looks things up and a Grocer that changes things; return them by name.

    The user is their developer as well.
    """
    uid = console.uid
    headers = console.sign_in_beside(context, uid)
    apps = {}
    for name, tools in (("Library", [LOOK_TOOL]), ("Grocer", [ADD_TOOL, ORDER_TOOL])):
        app = register_app(console, context, uid, app_server.declare(name, *tools), name=name)
        enable = f"{console.origin}/v1/apps/enable?app_id={app['id']}"
        assert context.request.post(enable, headers=headers).ok
        apps[name] = app
    return apps


def sign_in_and_ask(console: Console) -> None:
    """Sign in the user of the apps and ask a question, with which the model is offered their tools.

    The chat caches what it reads of apps, so apps change before.
    """
    console.sign_in(console.uid)
    console.ask("Which tools are there?")


def script_call(model: ScriptedOpenai, tool: str, **arguments: object) -> Script:
    """Let the model call a tool by the name that it was offered last."""
    name = next(name for name in list_offered_tools(model) if name.startswith(tool))
    return Script(tool_calls=(ScriptedCall(name=name, arguments=json.dumps(arguments)),))


def list_offered_tools(model: ScriptedOpenai) -> list[str]:
    bodies = [request.body for request in model.requests if "tools" in request.body]
    return [request["function"]["name"] for request in bodies[-1]["tools"]]
