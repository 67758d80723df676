"""Scripts: the letters of a text and those of a language are named alike."""

import pytest

from shared.domain.scripts import find_script, find_script_of_language

GREETINGS = {
    "ru": "Привет", "uk": "Привіт", "bg": "Здравей", "be": "Вітаю", "mk": "Здраво", "kk": "Сәлем", "ky": "Салам",
    "mn": "Сайн байна уу", "ar": "مرحبا", "fa": "سلام", "ur": "سلام", "ps": "سلام", "he": "שלום", "yi": "שלום",
    "hi": "नमस्ते", "mr": "नमस्कार", "ne": "नमस्ते", "ja": "こんにちは", "zh": "你好", "el": "Γειά σου", "ko": "안녕하세요",
    "th": "สวัสดี", "ka": "გამარჯობა", "hy": "Բարեւ", "bn": "নমস্কার", "ta": "வணக்கம்", "te": "నమస్కారం", "am": "ሰላም",
    "en": "Hello", "pt-BR": "Olá", "zh-TW": "你好", "DE": "Grüß Gott",
}  # fmt: skip


@pytest.mark.parametrize(("language", "greeting"), GREETINGS.items())
def test_a_greeting_is_written_in_the_script_of_its_language(language: str, greeting: str) -> None:
    assert find_script_of_language(language) == find_script(greeting)


def test_serbian_is_written_in_two_scripts() -> None:
    assert find_script_of_language("sr") == ""
