// A PostgreSQL server of the system for tests. Not here: what is expected of a client.

