"""The phone companion: a small TLS server on the LAN, pairing, live events, the screen, and voice from the phone."""
