"""Outside services a user can connect; one file each."""
