"""pi as a host. The sidecar is ``python -m hindbrain.pi``; it answers before anything else of ours is imported."""

__all__ = ["VERSION"]

VERSION = "0.1.0"
"""That of the dist: reading it from the dist's metadata would cost the first answer 20 ms."""
