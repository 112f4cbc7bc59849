"""The application behind the bridge: what a host process on the other end of a pipe is served."""
