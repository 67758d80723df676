"""Heads of columns in tables of what was said, by what stands below them, in several languages.

A program's own head stands before the common words: of two columns of one role the first in this table counts.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

Role = Literal["text", "speaker", "moment", "clock", "start", "end"]

HEADS: Mapping[Role, Sequence[str]] = {
    "text": (
        *("strcontent",),
        *("text", "message", "content", "contents", "body", "transcript", "sentence", "utterance", "message text"),
        *("nachricht", "inhalt", "mensaje", "texto", "contenido", "mensagem", "conteúdo", "texte", "contenu"),
        *("testo", "messaggio", "contenuto", "bericht", "tekst", "wiadomość", "treść", "текст", "сообщение"),
        *("本文", "内容", "メッセージ", "テキスト", "消息", "文本", "訊息", "내용", "메시지", "نص", "الرسالة", "הודעה", "טקסט"),
        *("metin", "mesaj", "संदेश", "pesan"),
    ),
    "speaker": (
        *("nickname",),
        *("speaker", "speaker name", "sender name", "sender", "author", "from", "username", "user", "name"),
        *("sprecher", "sprecherin", "absender", "autor", "von", "remitente", "hablante", "orador", "remetente"),
        *("locuteur", "expéditeur", "auteur", "intervenant", "mittente", "autore", "interlocutore", "afzender"),
        *("spreker", "nadawca", "mówca", "автор", "отправитель", "говорящий", "発言者", "話者", "送信者", "名前"),
        *("发言人", "发送者", "说话人", "發言人", "화자", "보낸 사람", "작성자", "발신자", "المرسل", "المتحدث"),
        *("שולח", "דובר", "gönderen", "konuşmacı", "प्रेषक", "pengirim"),
    ),
    "moment": (
        *("strtime",),
        *("timestamp", "datetime", "date time", "date/time", "message date", "sent at", "created at", "date", "sent"),
        *("zeitstempel", "zeitpunkt", "datum", "gesendet", "fecha y hora", "marca de tiempo", "fecha", "data e hora"),
        *("data", "horodatage", "data e ora", "tijdstip", "дата", "дата и время", "日時", "日付", "日期", "发送时间"),
        *("일시", "날짜", "التاريخ", "תאריך", "tarih", "दिनांक", "tanggal"),
    ),
    "clock": (
        *("time", "zeit", "uhrzeit", "hora", "heure", "ora", "orario", "tijd", "czas", "godzina", "время"),
        *("時刻", "時間", "时间", "시간", "الوقت", "שעה", "saat", "समय", "waktu"),
    ),
    "start": (
        *("start", "start time", "start ms", "begin", "beginn", "anfang", "inicio", "início", "début", "inizio"),
        *("начало", "開始", "开始", "시작", "البداية", "התחלה", "başlangıç"),
    ),
    "end": ("end", "end time", "end ms", "ende", "fin", "fim", "fine", "einde", "koniec", "конец", "終了", "结束", "종료"),
}  # fmt: skip
