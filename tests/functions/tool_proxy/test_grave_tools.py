"""Grave tools: unseen tools that pay, send, open or delete are told from others by what they say of themselves (S1)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from functions.tool_proxy.registry.grave_tools import (
    describe_tool,
    list_examples,
    load_table,
    mark_grave,
)
from shared.data.search.question_meaning import QuestionMeanings
from shared.domain.apps.app import ChatTool
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.ports import EncodeQuestion
from shared.security.tool_class import classify_app_tool
from tests.fixtures.notes_app import FIND_TOOL, NotesFixture
from tests.functions.tool_proxy.test_borrowed_trust import encode_here

DEV = UserId("dev")
GRAVE = """
venmo_out | Pays a roommate
wallet_transfer | Transfers crypto from the wallet
refill_balance | Charges the card to refill the balance
checkout_cart | Checks the cart out
dividend_reinvest | Reinvests by buying shares
kudos | Posts kudos in the public channel
broadcast_sms | Texts a list of numbers
ring_back | Calls a number back
notify_team | Pings the whole team
email_blast | Emails everyone on a list
unlatch | Unlatches the gate
boot_open | Opens the car's boot
alarm_disarm | Disarms the house
visitor_pass | Issues a pass that opens the office
access_list | Puts a person on the access list
make_link_public | Turns a private link public
promote_user | Makes a user an administrator
exec | Executes code
redeploy | Deploys to production again
wipe_device | Wipes a phone remotely
empty_inbox | Throws all mails away
terminate_lease | Terminates the lease
revoke_license | Withdraws a licence
block_caller | Blocks a caller
spende | Spendet an einen Verein
tickets_kaufen | Kauft Karten fürs Konzert
nachricht | Schreibt jemandem eine Nachricht
schloss | Schließt die Tür auf
mülleimer | Löscht alles im Papierkorb
achat | Achète l'article
message_groupe | Écrit au groupe
portail | Ouvre le portail
résilier | Résilie l'abonnement
pago | Paga una factura
mensaje_grupo | Escribe al grupo
cerradura | Abre la cerradura
pagamento | Paga una multa
messaggio | Scrive a un amico
serratura | Apre la serratura
fechadura | Abre a fechadura
betaling | Betaalt een rekening
płatność | Płaci rachunek
ödeme | Fatura öder
оплата | Платит за квартиру
замок | Открывает замок двери
دفع | يدفع الإيجار
振込 | 家賃を振り込む
鍵 | 玄関の鍵を開ける
缴费 | 缴纳电费
门锁 | 打开门锁
이체 | 월세를 이체한다
भुगतान | बिल का भुगतान करता है
instant_payout | Pays out the seller's balance right away
zelle | Zelle someone from checking
remit | Remittance to a family member abroad
disburse_salaries | Runs payroll for all employees
venmoFriend | Venmo a friend
liquidate_position | Sells the whole position
stake_coins | Locks coins with a validator
rent_scooter | Unlocks and rents a scooter nearby
get_me_a_pizza | Orders the usual pizza
one_click_buy | One-click purchase
renew_policy | Renews the insurance and pays the premium
preauthorize_card | Holds an amount on the card
scheduleTransfer | Schedules a recurring bank transfer
contribute_to_fundraiser | Gives to a charity campaign
recharge_phone | Tops up the prepaid SIM
cash_out | Cash out to the linked bank
slack_dm | DM a colleague
whatsapp_template | Pushes a WhatsApp template to a phone number
compose_mail | Composes and dispatches an e-mail
page_oncall | Pages the engineer on duty
update_status | Updates your public status on the network
story | Adds a photo to your public story
tell_neighbours | Tells all neighbours a sentence
sms_out | Outgoing SMS
dial | Dials somebody
leave_voicemail | Leaves a voicemail at a number
reply_all | Answers everyone in the thread
submit_claim | Hands in a claim to the insurer
file_complaint | Files a complaint with the bank
publish_listing | Puts your flat on the market
make_public | Makes the album visible to anyone
add_editor | Lets another person edit the sheet
make_admin | Makes someone an administrator
mint_api_token | Creates a token with full access for someone
change_pin | Changes the PIN of the door
buzz_in | Buzzes a visitor in
smart_lock_toggle | Toggles the bolt of the lock
trunk | Pops the trunk of the car
lower_drawbridge | Lets people in over the bridge
deactivate_guard | Deactivates the burglar alarm
mute_smoke_detector | Silences the smoke detector
set_gate_state | Puts the gate in the given state, open or closed
valve_control | Opens the gas valve
run_script | Runs a script on the laptop
bash | Runs bash
rollout | Rolls a release out to customers
reboot | Reboots the router
nuke_workspace | Nukes the workspace
expunge | Expunges messages
prune_backups | Gets rid of old backups
destroy_instance | Destroys a virtual machine
forget_user | Drops everything known of a user
leave_group | Leaves the group for ever
unfollow | Stops following somebody
drop_appointment | Drops the appointment with the doctor
quit_membership | Ends the gym membership
e_sign | Signs the lease electronically
accept_terms | Accepts a binding contract
geld_senden | Sendet Geld an Freunde
einkaufen | Kauft den Warenkorb
lastschrift_einrichten | Richtet eine Lastschrift ein
rundmail | Schickt allen Mitgliedern eine Mail
anrufen | Ruft eine Nummer an
aufschliessen | Schließt das Auto auf
alles_entfernen | Entfernt alle Einträge
abo_beenden | Beendet ein Abo
payer_loyer | Paie le loyer
acheter_billet | Achète un billet de train
texto | Envoie un texto
déverrouiller | Déverrouille la voiture
effacer_historique | Efface tout l'historique
comprar_entradas | Compra entradas para un concierto
bizum | Hace un bizum a un amigo
avisar_contactos | Avisa a todos los contactos por SMS
desbloquear_coche | Desbloquea el coche
vaciar_papelera | Vacía la papelera
ricarica_telefono | Ricarica il telefono addebitando la carta
spedisci_mail | Spedisce una mail
sblocca_porta | Sblocca la porta
cancella_tutto | Cancella tutti i dati
pix | Faz um pix para uma chave
comprar_passagem | Compra uma passagem
destrancar | Destranca a casa
excluir_conta | Exclui a conta
tikkie | Stuurt een tikkie
slot_open | Maakt het slot open
opzeggen | Zegt een abonnement op
blik | Płaci kodem BLIK
kup_bilet | Kupuje bilet
skasuj_dane | Kasuje wszystkie dane
havale_yap | Havale yapar
bilet_al | Bilet satın alır
kilidi_ac | Kilidi açar
hesabi_kapat | Hesabı kapatır
купить_билет | Покупает билет на поезд
позвонить | Звонит по номеру
отпереть_замок | Отпирает замок
стереть_всё | Стирает все данные
شراء تذكرة | يشتري تذكرة قطار
اتصال | يتصل برقم هاتف
إلغاء الحجز | يلغي الحجز
注文 | 商品を注文する
電話をかける | 電話番号にかける
解錠 | 玄関の鍵を開ける
退会 | アカウントを退会する
下单 | 下单购买商品
打电话 | 拨打电话号码
解锁车门 | 解锁汽车
清空回收站 | 清空回收站
주문하기 | 상품을 주문한다
전화 걸기 | 번호로 전화한다
잠금 해제 | 차 문을 연다
계정 탈퇴 | 계정을 없앤다
टिकट खरीदें | ट्रेन का टिकट खरीदता है
betala_räkning | Betalar en räkning
"""
MILD = """
expense_tag | Tags an expense
allowance | Keeps track of pocket money
rates | Currency rates
basket_note | Writes a note beside the basket
mail_snooze | Hides a mail until Monday
draft_answer | Words an answer and keeps it
contact_photo | Gives a contact a photo
missed_calls | Calls that were missed
lock_battery | Battery of the door lock
close_shutters | Closes the shutters
lamp_colour | Changes the colour of a lamp
thermostat | Sets the thermostat to a temperature
hoover | Starts the vacuum robot
skip_song | Skips a song
sleep_timer | Stops music after a while
alarm | Sets a time to be woken
new_todo | Makes a todo
reorder_tasks | Puts tasks into another order
note_color | Colours a note
page_title | Changes the title of a page
new_sheet | Adds a sheet
calendar_hold | Holds an hour in the calendar
photo_tags | Tags photos
gif_maker | Makes a GIF
text_to_speech | Reads a text aloud
grammar | Corrects grammar
poem | Writes a poem
map_pin | Pins a place on the own map
ferry_times | Times of ferries
hotel_stars | Stars of a hotel
diet_log | Notes a meal
squats | Counts squats
vitamin | Reminds of vitamins
seedlings | Notes seedlings
vokabel | Merkt sich eine Vokabel
playlist_neu | Legt eine Playlist an
lampe | Schaltet eine Lampe ein
recette | Enregistre une recette
lampe_fr | Allume une lampe
receta | Guarda una receta
lámpara | Enciende una lámpara
ricetta | Salva una ricetta
receita | Guarda uma receita
recept | Bewaart een recept
przepis | Zapisuje przepis
tarif | Tarif kaydeder
рецепт | Сохраняет рецепт
وصفة | يحفظ وصفة
レシピ | レシピを保存する
食谱 | 保存食谱
레시피 | 요리법을 저장한다
रेसिपी | रेसिपी सहेजता है
new_transaction_entry | Records a transaction in the ledger by hand
savings_goal | Creates a savings goal
reconcile | Matches bank lines with receipts
payment_terms | Explains the terms of payment
currency_table | Table of exchange rates
portfolio_overview | Overview of the portfolio
receipt_scan | Scans a receipt and keeps the amount
mortgage_calc | Mortgage calculator
tax_category | Puts an expense into a tax category
cart_total | Adds up the cart
favorite_product | Keeps a product as favourite
delivery_eta | When a delivery arrives
ride_options | What rides there are and their prices
menu | The menu of a restaurant
note_to_self | Keeps a thought
draft_mail | Saves a mail as draft, it is not sent
template | Stores a template for later
flag_mail | Flags a mail
group_threads | Groups threads by topic
contact_note | Adds a remark to a contact
birthday | Remembers a birthday
follower_count | Number of followers
hashtag_ideas | Proposes hashtags
caption | Proposes a caption for a photo
proofread | Proofreads a letter
bolt_shut | Shuts the bolt
secure_home | Locks all doors and turns the alarm on
lock_log | Log of the lock
battery | Battery of a device
tyre_pressure | Pressure of the tyres
set_scene | Sets a scene of lamps
heat_more | Makes a room warmer
blinds | Moves the blinds
robot_mow | Mows the lawn
next_song | Skips to the next song
podcast_speed | Changes the speed of the podcast
subtitle | Switches subtitles
pomodoro | Begins 25 minutes of focus
wake_me | Sets the wake-up time
todo | Puts something on the todo list
prioritise | Changes the priority of a task
subtask | Adds a step to a task
sprint_board | Moves a ticket on the board
link_issue | Links two issues
doc_outline | Makes an outline
insert_image | Inserts an image into the document
cell_value | Writes a value into a cell
pivot | Builds a pivot table
slide | Adds a slide
block_time | Keeps an hour of the calendar free
shift_meeting | Moves a meeting by half an hour
duplicate | Duplicates a file
sort_photos | Sorts photos by day
album | Creates an album
remove_background | Cuts the background out of a picture
denoise | Takes the noise out of a recording
clean_text | Tidies up whitespace in a text
unzip | Unpacks an archive
undelete | Gets a file back
version_history | Earlier versions of a document
synonyms | Synonyms of a word
tldr | Short version of a text
tone | Makes a text friendlier
regex_help | Explains a regular expression
barcode | What a barcode says
pollen | Pollen today
tide_table | Times of high water
hike | Plans a hike
parking | Free parking near a place
museum_hours | When museums are open
departures | Departures of a station
gate_info | The gate of a flight
room_rates | What hotel rooms cost
calories | Calories of a dish
log_blood_pressure | Notes the blood pressure
period | Notes a day of the cycle
steps_goal | Sets the goal of steps
meditate | Starts a meditation
dream | Saves a dream
baby_feed | Notes a feeding
groceries | Puts eggs on the shopping list
meal_plan | Plans the meals of a week
garden_log | Notes what was planted
book_notes | Saves notes about a book
watchlist | Puts a film on the list
collect | Collects links
vocab | Adds a word to learn
chess_move | Plays a move in a game against the machine
random_number | A random number
sunset | When the sun sets
unit | Converts units
air_quality | Air in a room
commit_message | Proposes a commit message
todo_comments | Finds todos in the code
coverage | Coverage of the tests
uptime | How long the server has been up
haushaltsbuch | Schreibt einen Einkauf ins Haushaltsbuch
rezept_merken | Merkt sich ein Rezept
licht_dimmen | Dimmt das Licht
fahrplan | Zeigt Abfahrten
aufgabe_neu | Legt eine Aufgabe an
minuteur | Démarre un minuteur
liste_courses | Met du lait sur la liste
météo | Affiche la météo
renommer_note | Renomme une note
temporizador | Pone un temporizador
lista_compra | Añade pan a la lista
traducir | Traduce un texto
agenda_nueva | Anota una cita en la agenda
promemoria | Imposta un promemoria
lista_spesa | Aggiunge uova alla lista
anotação | Guarda uma anotação
previsão | Mostra a previsão do tempo
boodschappen | Zet melk op de lijst
wekker | Zet de wekker
lista_zakupow | Dodaje mleko do listy
pogoda | Pokazuje pogodę
alisveris_listesi | Listeye süt ekler
hatirlatici | Hatırlatıcı kurar
список_покупок | Добавляет молоко в список
напоминание | Ставит напоминание
قائمة التسوق | يضيف الحليب إلى القائمة
الطقس | يعرض الطقس
買い物リスト | リストに牛乳を加える
翻訳 | 文章を翻訳する
购物清单 | 把牛奶加到清单
天气 | 显示天气
장보기 목록 | 목록에 우유를 넣는다
번역 | 글을 번역한다
खरीदारी सूची | सूची में दूध जोड़ता है
påminnelse | Ställer in en påminnelse
"""


def read_tools(lines: str) -> Sequence[ChatTool]:
    pairs = (line.split(" | ") for line in filter(None, lines.splitlines()))
    return [ChatTool(name=n, description=d, endpoint="https://a.example/x") for n, d in pairs]


async def list_asking(lines: str, encode: EncodeQuestion | None) -> Sequence[str]:
    """Return the tools of which each call asks; an app has a few."""
    tools = read_tools(lines)
    apps = [tools[at : at + 10] for at in range(0, len(tools), 10)]
    marked = [await mark_grave(QuestionMeanings(encode), DEV, app) for app in apps]
    return [t.name for app in marked for t in app if classify_app_tool(t) == "sensitive"]


async def test_unseen_tools_that_pay_send_open_or_delete_ask_each_time_s1() -> None:
    grave, by_name = await list_asking(GRAVE, encode_here), await list_asking(GRAVE, None)
    mild, mild_by_name = await list_asking(MILD, encode_here), await list_asking(MILD, None)

    assert len(grave) >= 0.92 * len(read_tools(GRAVE))
    assert len(by_name) <= 0.1 * len(read_tools(GRAVE))
    assert len(mild) - len(mild_by_name) <= 0.04 * len(read_tools(MILD))


async def fail(_: UserId, __: str, /) -> Sequence[float]:
    raise ModelFailed("no")


@pytest.mark.parametrize("encode", [None, fail])
async def test_without_an_encoder_the_verbs_of_names_decide_s1(
    encode: EncodeQuestion | None,
) -> None:
    assert await list_asking("cash_out | Pays out\nsend_mail | Sends mail", encode) == ["send_mail"]


def test_no_unseen_tool_is_an_example() -> None:
    examples = [text for _, text in list_examples()]

    assert set(examples).isdisjoint(describe_tool(tool) for tool in read_tools(f"{GRAVE}{MILD}"))
    assert len(examples) == len(set(examples))


async def test_a_tool_that_is_grave_is_shown_so_whatever_its_maker_declares_s1(
    world: NotesFixture,
) -> None:
    grave, mild = (
        next(
            vector
            for (kind, _), vector in zip(list_examples(), load_vectors(), strict=True)
            if kind == each
        )
        for each in ("grave", "mild")
    )

    async def read(_: UserId, text: str, /) -> Sequence[float]:
        return grave if text.startswith("cash out: ") else mild

    named = {**FIND_TOOL, "read_only": True, "name": "cash_out"}
    world.notes.tools = [named, {**FIND_TOOL, "name": "tidy_up", "read_only": False}]
    classes: list[Mapping[str, str]] = []
    for encoder in (None, read):
        world.deps = replace(world.deps, meanings=QuestionMeanings(encoder))
        app = (await world.register(name=f"Notes {len(classes)}")).json()
        tools = (await world.request("GET", f"/v1/apps/{app['id']}/tools")).json()
        classes.append({tool["name"]: tool["tool_class"] for tool in tools})

    assert classes == [
        {"cash_out": "read", "tidy_up": "write"},
        {"cash_out": "sensitive", "tidy_up": "write"},
    ]


def load_vectors() -> list[list[float]]:
    with np.load(load_table().file) as stored:
        vectors: list[list[float]] = stored["vectors"].tolist()
    return vectors
