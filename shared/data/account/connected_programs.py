"""Connected programs of a user, whose codes and refresh tokens serve once.

Also called: refresh token rotation, reuse detection.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Final

from shared.data.account.api_keys import USE_PRECISION
from shared.data.account.sign_outs import SignOuts
from shared.data.store.codec import load, load_all
from shared.data.store.limited_records import LimitedRecords
from shared.domain.account.connected_program import (
    CodeProof,
    ConnectedProgram,
    IssuedTokens,
    ProgramSecret,
)
from shared.domain.errors import NotAuthenticated, NotFound, PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import Query, Update
from shared.ports import Transaction

MAX_PROGRAMS: Final = 20


class ConnectedPrograms(LimitedRecords[ConnectedProgram]):
    """Programs that their owner let in; what has expired makes room for the next one."""

    kind = ConnectedProgram
    collection = "connected_programs"
    noun = "Program"
    max_count = MAX_PROGRAMS

    async def connect(self, uid: UserId, program: ConnectedProgram) -> None:
        """Store a program with its code. Raises Conflict for a user who has MAX_PROGRAMS."""
        for other in await self._list_stored(uid):
            if other.expires_at <= program.created_at:
                await self._end(uid, other.id)
        await self.create(uid, program)

    async def list_connected(self, uid: UserId, now: datetime) -> list[ConnectedProgram]:
        """List the newest first."""
        stored = await self._list_stored(uid)
        connected = [each for each in stored if each.is_connected and each.expires_at > now]
        return sorted(connected, key=lambda program: program.created_at, reverse=True)

    async def exchange_code(
        self, code: ProgramSecret, proof: CodeProof, tokens: IssuedTokens, now: datetime
    ) -> ConnectedProgram:
        """Give a program its first tokens.

        A code serves one attempt: a second one, or one without its proof, ends what came of it. A program that
        was let in again, such as to do more, takes the place of what it was. One that was let in before its user
        signed out everywhere stays out. Raises NotAuthenticated.
        """
        signed_out_at = await SignOuts(self._documents).find(code.uid)

        def is_good(program: ConnectedProgram) -> bool:
            is_ended = signed_out_at is not None and program.created_at < signed_out_at
            return not is_ended and not program.is_connected and program.is_proven_by(proof)

        connected = await self._exchange(code, is_good, tokens, now)
        if connected.is_one_installation:
            for other in await self._list_stored(code.uid):
                if other.client_id == connected.client_id and other.id != connected.id:
                    await self._end(code.uid, other.id)
        return connected

    async def refresh(
        self, token: ProgramSecret, client_id: str, tokens: IssuedTokens, now: datetime
    ) -> ConnectedProgram:
        """Give a program its next tokens, which `derive_secret` built of the token.

        They are given again for REPEAT_TIME. A refresh token that comes after that, or that another client brings,
        is in two hands: it ends the program. Raises NotAuthenticated.
        """

        def is_good(program: ConnectedProgram) -> bool:
            return program.client_id == client_id

        return await self._exchange(token, is_good, tokens, now)

    async def _exchange(
        self,
        secret: ProgramSecret,
        is_good: Callable[[ConnectedProgram], bool],
        tokens: IssuedTokens,
        now: datetime,
    ) -> ConnectedProgram:
        """Replace what a program has by `tokens`; one whose secret is not good ends. Raises NotAuthenticated."""
        path = self.document_path(secret.uid, secret.program_id)

        async def work(tx: Transaction) -> ConnectedProgram | None:
            document = await tx.get(path)
            if document is None:
                return None
            program = load(ConnectedProgram, document)
            if program.expires_at <= now or not is_good(program):
                return None
            if program.has_just_got(tokens):
                return program
            if not program.matches(secret):
                return None
            connected = program.with_tokens(tokens)
            changes = ("access_hash", "access_expires_at", "refresh_hash", "expires_at")
            tx.write(Update(path, {name: getattr(connected, name) for name in changes}))
            return connected

        connected = await self._documents.transaction(work)
        if connected is None:
            await self._end(secret.uid, secret.program_id)
            raise NotAuthenticated("It was used before, has ended, or belongs to another request.")
        return connected

    async def authenticate(self, token: ProgramSecret, now: datetime) -> ConnectedProgram:
        """Return the program whose access token this is. Raises NotAuthenticated."""
        program = await self._find(token)
        if program is None or not program.matches(token):
            raise NotAuthenticated("Invalid authorization token")
        if program.access_expires_at is None or program.access_expires_at <= now:
            raise NotAuthenticated("This token has expired.")
        if program.last_used_at is None or now - program.last_used_at >= USE_PRECISION:
            path = self.document_path(token.uid, program.id)
            with suppress(PreconditionFailed, Unavailable):  # it ended, or others record it too
                await self._documents.write(Update(path, {"last_used_at": now}))
        return program

    async def revoke(self, token: ProgramSecret, client_id: str) -> None:
        """End the program that this token is of, if this client has it and the token is its last one."""
        program = await self._find(token)
        if program is not None and program.matches(token) and program.client_id == client_id:
            await self._end(token.uid, program.id)

    async def remove_all(self, uid: UserId) -> None:
        """End all programs, at once."""
        for program in await self._list_stored(uid):
            await self._end(uid, program.id)

    async def _find(self, secret: ProgramSecret) -> ConnectedProgram | None:
        return await self.find(secret.uid, secret.program_id)

    async def _list_stored(self, uid: UserId) -> list[ConnectedProgram]:
        query = Query(collection=f"users/{uid}/{self.collection}", limit=MAX_PROGRAMS)
        return load_all(ConnectedProgram, await self._documents.query(query))

    async def _end(self, uid: UserId, program_id: str) -> None:
        with suppress(NotFound):  # somebody ended it meanwhile
            await self.delete(uid, program_id)
