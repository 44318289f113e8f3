extension DatabaseSchema {
    /// Answers which are kept, and limits that refuse one store instead of a whole group. What nodes of version 1 call
    /// stays.
    static let refusals = """
        -- What is free of a page takes the next version of a record, so that its index need not be written.
        ALTER TABLE ubiquity.record SET (fillfactor = 80);
        ALTER TABLE ubiquity.presence SET (fillfactor = 70);

        -- The last answers on each connection of a node, to be read by a node that has not received one.
        CREATE TABLE ubiquity.answer (
            node bigint NOT NULL,
            connection bigint NOT NULL,
            -- The position among those that are sent at once.
            place integer NOT NULL,
            number bigint NOT NULL,
            -- Ordinals of the stores that were not changed.
            refused integer[] NOT NULL,
            written timestamptz NOT NULL,
            PRIMARY KEY (node, connection, place)
        ) WITH (fillfactor = 50);

        ALTER FUNCTION ubiquity.create_stores(text[], text[], bytea[], integer) SET lock_timeout = '2s';

        -- Changes stores that still have the version that was planned on; returns the others: 1 has another version, 2 is locked
        -- by somebody, 3 grows more than the account's room, 4 would be one store too many, 5 has no account any more. Accounts
        -- are sorted by name and stores by id, so that two groups never wait for each other; a group that does not wait skips
        -- what is locked. The owner of a store is the ordinal of its account, 0 for one whose limits do not matter.
        CREATE FUNCTION ubiquity.change_stores(
            expected_generation bigint, default_limit integer, waits boolean,
            answer_node bigint, answer_connection bigint, answer_place integer, answer_number bigint,
            accounts text[], owners integer[], growths bigint[], revivals boolean[],
            ids bigint[], versions bigint[], revisions bigint[], horizons bigint[],
            removals boolean[], key_counts integer[], byte_counts bigint[], memories bigint[],
            states bytea[],
            stores bigint[], keys bytea[], record_revisions bigint[], stamps bytea[], contents bytea[],
            forgotten_stores bigint[], forgotten_keys bytea[]
        ) RETURNS TABLE (ordinal integer, outcome integer, room bigint, bound bigint)
        LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
        DECLARE
            refused_ordinals integer[] := '{}';
            refused_stores bigint[] := '{}';
            free_stores bigint[];
            free_accounts text[];
            presences boolean[];
            byte_limits bigint[];
            rooms bigint[];
            store_limits integer[];
            store_counts integer[];
            owner integer;
            found_timeline integer := ubiquity.timeline();
        BEGIN
            -- Behind a pooler a connection outlives the server. Who moves the data away locks the table.
            PERFORM FROM ubiquity.meta m
                WHERE m.generation = expected_generation AND m.timeline = found_timeline;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'another generation' USING ERRCODE = 'UB001';
            END IF;
            IF cardinality(accounts) > 0 THEN
                IF waits THEN
                    PERFORM FROM ubiquity.account a WHERE a.name = ANY (accounts) ORDER BY a.name FOR UPDATE;
                ELSE
                    free_accounts := ARRAY(
                        SELECT a.name FROM ubiquity.account a WHERE a.name = ANY (accounts)
                        ORDER BY a.name FOR UPDATE SKIP LOCKED
                    );
                END IF;
                -- A statement of its own, which sees what was committed before the locks were released.
                SELECT array_agg(f.is_present ORDER BY f.n), array_agg(f.byte_limit ORDER BY f.n),
                    array_agg(coalesce(f.byte_limit, 9223372036854775807) - f.used ORDER BY f.n),
                    array_agg(f.store_limit ORDER BY f.n), array_agg(f.store_count ORDER BY f.n)
                INTO presences, byte_limits, rooms, store_limits, store_counts
                FROM (
                    SELECT i.n, a.name IS NOT NULL AND a.removed IS NULL AS is_present, a.byte_limit,
                        coalesce(a.store_limit, default_limit) AS store_limit, u.used, u.store_count
                    FROM unnest(accounts) WITH ORDINALITY AS i (name, n)
                    LEFT JOIN ubiquity.account a ON a.name = i.name
                    CROSS JOIN LATERAL (
                        SELECT coalesce(sum(s.memory), 0)::bigint AS used,
                            (count(*) FILTER (WHERE NOT s.is_removed))::integer AS store_count
                        FROM ubiquity.store s WHERE s.account = i.name
                    ) u
                ) f;
            END IF;
            IF NOT waits THEN
                free_stores := ARRAY(
                    SELECT s.id FROM ubiquity.store s WHERE s.id = ANY (ids)
                    ORDER BY s.id FOR UPDATE SKIP LOCKED
                );
            END IF;
            FOR i IN 1 .. cardinality(ids) LOOP
                ordinal := i;
                outcome := 0;
                room := NULL;
                bound := NULL;
                owner := owners[i];
                IF NOT waits AND ids[i] <> ALL (free_stores) THEN
                    outcome := 2;
                ELSIF owner > 0 AND (growths[i] > 0 OR revivals[i]) THEN
                    IF NOT presences[owner] THEN
                        outcome := 5;
                    ELSIF NOT waits AND accounts[owner] <> ALL (free_accounts) THEN
                        outcome := 2;
                    ELSIF growths[i] > 0 AND growths[i] > rooms[owner] THEN
                        outcome := 3;
                        room := rooms[owner];
                        bound := byte_limits[owner];
                    ELSIF revivals[i] AND store_counts[owner] >= store_limits[owner] THEN
                        outcome := 4;
                        bound := store_limits[owner];
                    END IF;
                END IF;
                IF outcome = 0 THEN
                    UPDATE ubiquity.store s SET
                        version = versions[i] + 1, revision = revisions[i], horizon = horizons[i],
                        generation = expected_generation, is_removed = removals[i],
                        key_count = key_counts[i], byte_count = byte_counts[i], memory = memories[i],
                        state = states[i]
                    WHERE s.id = ids[i] AND s.version = versions[i];
                    IF NOT FOUND THEN outcome := 1; END IF;
                ELSIF outcome > 2 THEN
                    -- Whoever is refused need not read the store again.
                    PERFORM FROM ubiquity.store s WHERE s.id = ids[i] AND s.version = versions[i];
                    IF NOT FOUND THEN outcome := 1; END IF;
                END IF;
                IF outcome > 0 THEN
                    refused_ordinals := refused_ordinals || i;
                    refused_stores := refused_stores || ids[i];
                    RETURN NEXT;
                    CONTINUE;
                END IF;
                IF removals[i] THEN
                    DELETE FROM ubiquity.record r WHERE r.store = ids[i];
                END IF;
                IF owner > 0 THEN
                    rooms[owner] := rooms[owner] - growths[i];
                    store_counts[owner] := store_counts[owner] + revivals[i]::integer;
                END IF;
            END LOOP;
            IF cardinality(stores) > 0 THEN
                INSERT INTO ubiquity.record AS r (store, key, revision, stamp, value)
                SELECT * FROM unnest(stores, keys, record_revisions, stamps, contents) AS i (store)
                WHERE i.store <> ALL (refused_stores)
                ON CONFLICT (store, key) DO UPDATE SET
                    revision = excluded.revision, stamp = excluded.stamp, value = excluded.value;
            END IF;
            IF cardinality(forgotten_stores) > 0 THEN
                DELETE FROM ubiquity.record r
                USING unnest(forgotten_stores, forgotten_keys) AS f (store, key)
                WHERE r.store = f.store AND r.key = f.key AND f.store <> ALL (refused_stores);
            END IF;
            INSERT INTO ubiquity.answer (node, connection, place, number, refused, written)
            VALUES (answer_node, answer_connection, answer_place, answer_number, refused_ordinals, now())
            ON CONFLICT (node, connection, place) DO UPDATE SET
                number = excluded.number, refused = excluded.refused, written = excluded.written;
        END $$;
        """
}
