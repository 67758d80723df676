"""FCM on loopback: a proxy to which the real client is pointed, and which answers itself."""

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

ACCESS_TOKEN = "access-of-the-test"
FCM_ERROR_TYPE = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
TOKEN_ENDPOINT = ("oauth2.googleapis.com", "/token")
SEND_HOST = "fcm.googleapis.com"
FcmAnswer = tuple[int, bytes]


@dataclass
class FakeFcm:
    """The messages sent; `answers` lists the answers of a token in turn, other tokens succeed."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, list[FcmAnswer]] = field(default_factory=dict)
    proxy: str = ""
    project: str = "demo"

    def answer(self, handler: BaseHTTPRequestHandler) -> FcmAnswer:
        body = handler.rfile.read(int(handler.headers["content-length"]))
        endpoint = (handler.headers["host"], handler.path)
        if endpoint == TOKEN_ENDPOINT:
            return 200, json.dumps({"access_token": ACCESS_TOKEN, "expires_in": 3600}).encode()
        if (
            endpoint != (SEND_HOST, f"/v1/projects/{self.project}/messages:send")
            or handler.headers["authorization"] != f"Bearer {ACCESS_TOKEN}"
        ):
            return 400, b"the test does not know this request"
        return self._send(json.loads(body)["message"])

    def _send(self, message: dict[str, Any]) -> FcmAnswer:
        self.messages.append(message)
        answers = self.answers.get(message["token"])
        return answers.pop(0) if answers else (200, b'{"name": "projects/demo/messages/1"}')


def build_refusal(
    http: int, status: str, code: str | None = None, message: str = "no"
) -> FcmAnswer:
    """Build an error of FCM: google.rpc.Status, with FCM's own code in its details."""
    details = [{"@type": FCM_ERROR_TYPE, "errorCode": code}] if code else []
    error = {"code": http, "message": message, "status": status, "details": details}
    return http, json.dumps({"error": error}).encode()


def write_certificate(path: Path) -> Path:
    """Write a certificate for FCM's hosts, signed by itself, with its key; clients have to trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, SEND_HOST)])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName(SEND_HOST), x509.DNSName(TOKEN_ENDPOINT[0])])
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1, now, now + timedelta(1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    private_pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private_pem)
    return path


@contextmanager
def fake_fcm(certificate: Path, *, project: str = "demo") -> Iterator[FakeFcm]:
    fcm = FakeFcm(project=project)
    with ThreadingHTTPServer(("127.0.0.1", 0), _build_handler(fcm, certificate)) as server:
        fcm.proxy = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield fcm
        finally:
            server.shutdown()
            thread.join()


def _build_handler(fcm: FakeFcm, certificate: Path) -> type[BaseHTTPRequestHandler]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            """Answer through the tunnel in the place of FCM."""
            self.send_response(200)
            self.end_headers()
            self.connection = tls.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", 0)
            self.close_connection = False

        def do_POST(self) -> None:
            status, body = fcm.answer(self)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def finish(self) -> None:
            super().finish()
            self.connection.close()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Handler
