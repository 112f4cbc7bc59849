"""Test support: disks that record, fail and lose power, for every FileLayer user."""
