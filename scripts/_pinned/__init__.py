"""The hosts at the versions that we are tried on, and how to start them. Shared by scripts and tests."""
