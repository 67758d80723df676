"""Token estimate (X8): close to what o200k counts in any script, rather too high than too low."""

import pytest

from shared.domain.models.model import SAFE_WINDOW_TOKENS
from shared.domain.models.model_facts import find_model_facts
from shared.domain.models.tokens import estimate_tokens

RECORDED_COUNTS = {
    "Hello, my name is GPT-4o. I'm a new type of language model, it's nice to meet you!": 24,
    "Hola, me llamo GPT-4o. Soy un nuevo tipo de modelo de lenguaje, ¡es un placer conocerte!": 26,
    "Olá, meu nome é GPT-4o. Sou um novo tipo de modelo de linguagem, é um prazer conhecê-lo!": 27,
    "Hallo, mein Name is GPT-4o. Ich bin ein neues KI-Sprachmodell. Es ist schön, dich kennenzulernen.": 29,
    "Merhaba, benim adım GPT-4o. Ben yeni bir dil modeli türüyüm, tanıştığımıza memnun oldum!": 30,
    "Xin chào, tên tôi là GPT-4o. Tôi là một loại mô hình ngôn ngữ mới, rất vui được gặp bạn!": 30,
    "Привет, меня зовут GPT-4o. Я — новая языковая модель, приятно познакомиться!": 23,
    "مرحبًا، اسمي جي بي تي-4o. أنا نوع جديد من نموذج اللغة، سررت بلقائك!": 26,
    "हैलो, मेरा नाम जीपीटी-4o है। मैं एक नए प्रकार का भाषा मॉडल हूं। आपसे मिलकर अच्छा लगा!": 31,
    "வணக்கம், என் பெயர் ஜிபிடி-4o. நான் ஒரு புதிய வகை மொழி மாடல். உங்களை சந்தித்ததில் மகிழ்ச்சி!": 35,
    "안녕하세요, 제 이름은 GPT-4o입니다. 저는 새로운 유형의 언어 모델입니다, 만나서 반갑습니다!": 27,
    "你好，我的名字是GPT-4o。我是一种新型的语言模型，很高兴见到你!": 24,
    "こんにちわ、私の名前はGPT−4oです。私は新しいタイプの言語モデルです、初めまして": 26,
}
"""As OpenAI published them with that encoding."""


@pytest.mark.parametrize(("text", "tokens"), RECORDED_COUNTS.items())
def test_an_estimate_is_near_the_recorded_count_and_seldom_below_x8(text: str, tokens: int) -> None:
    assert 0.9 * tokens <= estimate_tokens(text) <= 2 * tokens


def test_a_chinese_character_is_a_token_and_four_english_letters_are_one_x8() -> None:
    assert 20_000 <= estimate_tokens("語" * 20_000) <= 30_000
    assert estimate_tokens("word " * 800) == 1_001
    assert estimate_tokens("") == 1
    assert estimate_tokens("\ud800") >= 1


def test_an_unknown_model_gets_a_safe_window_and_no_images_x8() -> None:
    assert find_model_facts("gpt-6-luna").window_tokens > 900_000
    assert find_model_facts("gpt-6-sol").window_tokens == 272_000
    assert find_model_facts("llama3:8b").window_tokens == SAFE_WINDOW_TOKENS
    assert not find_model_facts("llama3:8b").takes_images


@pytest.mark.parametrize(
    "name",
    [
        *("gpt-4.1-mini", "gpt-4o-mini", "gpt-5", "gpt-6-sol", "gpt-6-luna"),
        *("google/gemini-3-pro", "anthropic/claude-sonnet"),
    ],
)
def test_a_model_that_is_known_to_see_is_given_pictures(name: str) -> None:
    assert find_model_facts(name).takes_images
