// A storage engine on PostgreSQL, for several daemons that share it: schema, groups of requests, caches of stores,
// notifications, devices. Not here: libpq (Client), the request path (KVStoreServer), and the merge (KVStoreCore).

/// The tables and functions of a database, and their versions.
///
/// All of a store's changes are ordered by the lock of its row in `store`. `revision` is its last sequence number,
/// `version` changes with every change of the row, and of its account. `generation` is another number, at random, after
/// what may have lost commits: a failover, a restored backup. It is no count: two failovers could lead to the same one.
/// A row of an earlier one gets a new epoch before anything of it is answered.
enum DatabaseSchema {
    /// A daemon migrates an older one, and refuses a newer one.
    static var version: Int { migrations.count }

    /// Whose notifications name an account of which devices have changed.
    static let devicesChannel = "ubiquity_devices"

    /// The statements that lead to each version from the one before it. The first ones made a function `commit` too,
    /// which databases of then still have for nodes of then.
    static let migrations = [initial, refusals]

    private static let initial = """
        CREATE TABLE ubiquity.meta (
            only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
            schema_version integer NOT NULL,
            instance bigint NOT NULL,
            generation bigint NOT NULL,
            system_id bigint NOT NULL DEFAULT 0,
            timeline integer NOT NULL DEFAULT 0,
            -- Changes with every change of a device or an account.
            devices_version bigint NOT NULL DEFAULT 1
        );

        CREATE TABLE ubiquity.account (
            name text COLLATE "C" PRIMARY KEY,
            created bigint NOT NULL,
            byte_limit bigint,
            store_limit integer,
            removed bigint
        );
        CREATE INDEX account_removed ON ubiquity.account (removed) WHERE removed IS NOT NULL;

        CREATE TABLE ubiquity.device (
            id text COLLATE "C" PRIMARY KEY,
            account text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            token_sha256 bytea NOT NULL UNIQUE,
            scopes text[] NOT NULL,
            stores text[],
            created bigint NOT NULL,
            trusted boolean NOT NULL DEFAULT false,
            page boolean NOT NULL DEFAULT false,
            -- The order of the list.
            number bigint GENERATED ALWAYS AS IDENTITY,
            UNIQUE (account, name)
        );

        -- What a node knows of a device, for the others.
        CREATE TABLE ubiquity.presence (
            device text COLLATE "C" NOT NULL,
            node bigint NOT NULL,
            seen bigint NOT NULL,
            stream_count integer NOT NULL,
            PRIMARY KEY (device, node)
        );

        CREATE TABLE ubiquity.pairing (
            id text COLLATE "C" PRIMARY KEY,
            account text COLLATE "C" NOT NULL,
            maker text COLLATE "C",
            created bigint NOT NULL,
            -- As in the file of a daemon with a log.
            document bytea NOT NULL
        );
        CREATE INDEX pairing_account ON ubiquity.pairing (account);
        CREATE INDEX pairing_maker ON ubiquity.pairing (maker);

        CREATE TABLE ubiquity.node (
            id bigint PRIMARY KEY,
            name text NOT NULL,
            url text NOT NULL,
            version text NOT NULL,
            started bigint NOT NULL,
            seen timestamptz NOT NULL
        );

        CREATE TABLE ubiquity.store (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            account text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            version bigint NOT NULL,
            revision bigint NOT NULL,
            horizon bigint NOT NULL,
            generation bigint NOT NULL,
            is_removed boolean NOT NULL,
            key_count integer NOT NULL,
            byte_count bigint NOT NULL,
            memory bigint NOT NULL,
            state bytea NOT NULL,
            UNIQUE (account, name)
        ) WITH (fillfactor = 70);

        -- A tombstone has no value.
        CREATE TABLE ubiquity.record (
            store bigint NOT NULL,
            key bytea NOT NULL,
            revision bigint NOT NULL,
            stamp bytea NOT NULL,
            value bytea,
            PRIMARY KEY (store, key)
        );
        ALTER TABLE ubiquity.record ALTER COLUMN value SET STORAGE EXTERNAL;

        -- With a row, the data does not count: a copy from a log is not complete, or all has moved to one.
        CREATE TABLE ubiquity.migration (
            only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
            instance bigint NOT NULL,
            is_export boolean NOT NULL
        );

        CREATE FUNCTION ubiquity.random_number() RETURNS bigint LANGUAGE sql VOLATILE AS $$
            SELECT ('x' || left(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint
        $$;

        -- Changes when a standby becomes the primary, and after the recovery of a backup. Volatile, as what it calls is: otherwise
        -- each statement would plan it anew instead of containing it.
        CREATE FUNCTION ubiquity.timeline() RETURNS integer LANGUAGE sql VOLATILE AS $$
            SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
        $$;

        -- Begins a new generation if this is not the server, or not its timeline, that the last node saw.
        CREATE FUNCTION ubiquity.identify() RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE
            found_system bigint := 0;
            found_timeline integer := ubiquity.timeline();
            present bigint;
        BEGIN
            BEGIN
                SELECT system_identifier INTO found_system FROM pg_control_system();
            EXCEPTION WHEN insufficient_privilege THEN
            END;
            SELECT generation INTO present FROM ubiquity.meta
                WHERE (system_id, timeline) = (found_system, found_timeline);
            IF NOT FOUND THEN
                UPDATE ubiquity.meta
                    SET generation = ubiquity.random_number(),
                        system_id = found_system, timeline = found_timeline
                    WHERE (system_id, timeline) <> (found_system, found_timeline);
                SELECT generation INTO present FROM ubiquity.meta;
            END IF;
            RETURN present;
        END $$;

        -- Creates stores, or says why not: 0 created or present, 1 the account is gone, 2 it has all its stores.
        CREATE FUNCTION ubiquity.create_stores(
            accounts text[], names text[], states bytea[], default_limit integer
        ) RETURNS TABLE (ordinal integer, outcome integer, store_limit integer) LANGUAGE plpgsql AS $$
        DECLARE
            found ubiquity.account;
        BEGIN
            FOR i IN 1 .. cardinality(accounts) LOOP
                ordinal := i;
                outcome := 0;
                SELECT * INTO found FROM ubiquity.account a
                    WHERE a.name = accounts[i] AND a.removed IS NULL FOR UPDATE;
                store_limit := coalesce(found.store_limit, default_limit);
                IF found.name IS NULL THEN
                    outcome := 1;
                ELSIF EXISTS (
                    SELECT FROM ubiquity.store s WHERE s.account = accounts[i] AND s.name = names[i]
                ) THEN
                    outcome := 0;
                ELSIF (
                    SELECT count(*) FROM ubiquity.store s
                    WHERE s.account = accounts[i] AND NOT s.is_removed
                ) >= store_limit THEN
                    outcome := 2;
                ELSE
                    INSERT INTO ubiquity.store (
                        account, name, version, revision, horizon, generation, is_removed, key_count,
                        byte_count, memory, state
                    ) SELECT accounts[i], names[i], 1, 0, 0, m.generation, false, 0, 0, 0, states[i]
                    FROM ubiquity.meta m ON CONFLICT DO NOTHING;
                END IF;
                RETURN NEXT;
            END LOOP;
        END $$;

        INSERT INTO ubiquity.account (name, created) VALUES ('default', 0);
        """
}
