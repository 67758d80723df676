"""Cloud KMS on loopback: encrypts and decrypts over gRPC as the service documents it."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from google.cloud.kms_v1.types import (
    DecryptRequest,
    DecryptResponse,
    EncryptRequest,
    EncryptResponse,
)

KEY = "projects/demo/locations/us-central1/keyRings/keepsake/cryptoKeys/tokens"


@dataclass
class FakeKms:
    """One key. `failure` refuses everything, as `reason` says."""

    key: bytes = field(default_factory=lambda: AESGCM.generate_key(256))
    failure: grpc.StatusCode | None = None
    reason: str = "as the test wants it"
    address: str = ""

    def encrypt(self, request: EncryptRequest, context: grpc.ServicerContext) -> EncryptResponse:
        self._check(request.name, context)
        if len(request.plaintext) > 65_536:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "The plaintext is over 64 KiB.")
        nonce, associated_data = secrets.token_bytes(12), request.additional_authenticated_data
        ciphertext = AESGCM(self.key).encrypt(nonce, request.plaintext, associated_data)
        return EncryptResponse(name=f"{KEY}/cryptoKeyVersions/1", ciphertext=nonce + ciphertext)

    def decrypt(self, request: DecryptRequest, context: grpc.ServicerContext) -> DecryptResponse:
        self._check(request.name, context)
        nonce, ciphertext = request.ciphertext[:12], request.ciphertext[12:]
        try:
            associated_data = request.additional_authenticated_data
            plaintext = AESGCM(self.key).decrypt(nonce, ciphertext, associated_data)
        except (InvalidTag, ValueError):
            context.abort(
                grpc.StatusCode.INVALID_ARGUMENT,
                "Decryption failed: verify that 'name' refers to the correct CryptoKey.",
            )
        return DecryptResponse(plaintext=plaintext)

    def _check(self, name: str, context: grpc.ServicerContext) -> None:
        if self.failure:
            context.abort(self.failure, self.reason)
        if name != KEY:
            context.abort(grpc.StatusCode.NOT_FOUND, "no such key")


@contextmanager
def fake_kms() -> Iterator[FakeKms]:
    kms = FakeKms()
    methods = {
        "Encrypt": grpc.unary_unary_rpc_method_handler(
            kms.encrypt,
            request_deserializer=EncryptRequest.deserialize,
            response_serializer=EncryptResponse.serialize,
        ),
        "Decrypt": grpc.unary_unary_rpc_method_handler(
            kms.decrypt,
            request_deserializer=DecryptRequest.deserialize,
            response_serializer=DecryptResponse.serialize,
        ),
    }
    server = grpc.server(ThreadPoolExecutor(max_workers=1))
    service = "google.cloud.kms.v1.KeyManagementService"
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, methods)])
    kms.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield kms
    finally:
        server.stop(grace=None).wait()
