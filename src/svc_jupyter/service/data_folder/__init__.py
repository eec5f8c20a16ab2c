"""The identities of database and data folder, and the ids that either of them has used."""
