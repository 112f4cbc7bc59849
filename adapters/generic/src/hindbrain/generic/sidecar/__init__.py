"""The application behind the bridge: what a host process on the other end of a pipe is served."""

from hindbrain.generic.sidecar._app import Application, Handler
from hindbrain.generic.sidecar._model import PeerModel
from hindbrain.generic.sidecar._models import ModelInfo, PeerModels
from hindbrain.generic.sidecar._peer import Peer
from hindbrain.generic.sidecar._settings import settings_at

__all__ = ["Application", "Handler", "ModelInfo", "Peer", "PeerModel", "PeerModels", "settings_at"]
