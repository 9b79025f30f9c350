"""A certificate authority and the certificates that it signs, made by openssl as PEM files."""

import subprocess
from pathlib import Path
from typing import NamedTuple

_CONFIG = """
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
subjectAltName = IP:127.0.0.1, DNS:localhost
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


class Certified(NamedTuple):
    """A certificate and its private key, in files; `identity` holds both."""

    certificate: Path
    key: Path
    identity: Path


def authority(folder: Path, name: str) -> Certified:
    """A certificate authority."""
    return _made(folder, name, "authority")


def signed(by: Certified, folder: Path, name: str) -> Certified:
    """A certificate for 127.0.0.1 and localhost."""
    return _made(folder, name, "leaf", "-CA", by.certificate, "-CAkey", by.key)


def _made(folder: Path, name: str, extensions: str, *signer: object) -> Certified:
    made = Certified(folder / f"{name}.crt", folder / f"{name}.key", folder / f"{name}.pem")
    config = folder / "openssl.cnf"
    config.write_text(_CONFIG)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-keyout", made.key]
    command = ["openssl", "req", "-x509", "-config", config, "-extensions", extensions, "-days", "2", *key]
    subprocess.run(
        [*command, "-subj", f"/CN={name}", "-out", made.certificate, *signer], check=True, capture_output=True
    )
    made.identity.write_text(made.key.read_text() + made.certificate.read_text())
    return made
