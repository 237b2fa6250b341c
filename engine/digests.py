"""blake2b without OpenSSL, which `hashlib` loads with it, in milliseconds that a short run would notice."""

from _blake2 import blake2b as blake2b
