"""Certificate authority of tests: it signs certificates for any name."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_NOW = datetime.now(UTC)


class CertificateAuthority:
    """A certificate authority that stores the certificates it signs in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _build_name("Test authority")
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        self._certificate = (
            self._prepare_certificate(self._name, self._key, valid_days=2)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def build_server_context(self, name: str, *, valid_days: int = 1) -> ssl.SSLContext:
        """Return the context of a server named `name`; negative `days` make its certificate expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = (
            self._prepare_certificate(_build_name(name), key, valid_days=valid_days)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .add_extension(signer, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        path = self._folder / f"{name}.pem"
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + _to_pem(key))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def build_client_context(self) -> ssl.SSLContext:
        """Return the context of a client that trusts this authority alone."""
        pem = self._certificate.public_bytes(serialization.Encoding.PEM)
        return ssl.create_default_context(cadata=pem.decode())

    def _prepare_certificate(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, valid_days: int
    ) -> x509.CertificateBuilder:
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        return x509.CertificateBuilder(
            issuer_name=self._name,
            subject_name=subject,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=_NOW - timedelta(days=3),
            not_valid_after=_NOW + timedelta(days=valid_days),
        ).add_extension(identifier, critical=False)


def _build_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _to_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
