#if PostgreSQL
    import Essentials
    import KVStoreServer
    import KVStoreWire

    /// Devices, accounts and pairing codes as rows. Arrays are read as text: their elements have no commas.
    enum DeviceRows {
        /// The columns of a device `d`, as `device` reads them.
        static let columns = """
            d.id, d.account, d.name, d.token_sha256, array_to_string(d.scopes, ','),
            array_to_string(d.stores, ','), d.created, d.trusted, d.page
            """
        static let columnCount = 9

        static func device(_ rows: PostgreSQLRows, _ row: Int) throws(ServerError) -> Device {
            let digest = Data(rows.bytes(row, 3) ?? [])
            guard digest.count == 32 else {
                throw ServerError(.unreadable, "the device \(rows.text(row, 0) ?? "") in the database has no SHA-256")
            }
            return Device(
                id: rows.text(row, 0) ?? "", name: rows.text(row, 2) ?? "", account: rows.text(row, 1) ?? "",
                scopes: list(rows.text(row, 4)).compactMap { DeviceScope(rawValue: $0) },
                stores: rows.isNull(row, 5) ? nil : list(rows.text(row, 5)), created: rows.int64(row, 6) ?? 0,
                tokenSHA256: TokenDigest(bytes: digest), isTrusted: rows.bool(row, 7) ?? false,
                isPage: rows.bool(row, 8) ?? false)
        }

        static func devices(_ rows: PostgreSQLRows) throws(ServerError) -> [Device] {
            var devices: [Device] = []
            for row in 0..<rows.count { devices.append(try device(rows, row)) }
            return devices
        }

        private static func list(_ text: String?) -> [String] {
            (text ?? "").split(separator: ",").map(String.init)
        }

        static func accounts(_ rows: PostgreSQLRows) -> [Account] {
            (0..<rows.count).map { row in
                Account(
                    name: rows.text(row, 0) ?? "", created: rows.int64(row, 1) ?? 0,
                    byteLimit: rows.int64(row, 2).map { Int($0) },
                    storeLimit: rows.int64(row, 3).map { Int($0) }, removed: rows.int64(row, 4))
            }
        }

        static func pairings(_ rows: PostgreSQLRows) throws(ServerError) -> PairingTable {
            var pairings: [Pairing] = []
            for row in 0..<rows.count {
                do throws(WireError) {
                    pairings.append(try WireJSON.decode(from: Data(rows.bytes(row, 0) ?? [])))
                } catch {
                    throw ServerError(.database, "unreadable pairing code in the database: \(error)")
                }
            }
            return PairingTable(pairings)
        }

        // MARK: - Reading

        private static let selectAccounts = """
            SELECT name, created, byte_limit, store_limit, removed FROM ubiquity.account
            """
        private static let namedAccounts = PostgreSQLStatement(
            "accounts", "\(selectAccounts) WHERE name = ANY ($1) ORDER BY name", [.textArray])
        private static let lockedAccounts = PostgreSQLStatement(
            "locked_accounts", "\(selectAccounts) WHERE name = ANY ($1) ORDER BY name FOR UPDATE", [.textArray])
        private static let allAccounts = PostgreSQLStatement("all_accounts", "\(selectAccounts) ORDER BY name")
        private static let allLockedAccounts = PostgreSQLStatement(
            "all_locked_accounts", "\(selectAccounts) ORDER BY name FOR UPDATE")

        /// - Parameters:
        ///   - names: nil for all.
        ///   - isLocked: whether others that change them, or stores of them, wait.
        static func accounts(_ names: [String]?, isLocked: Bool) -> PostgreSQLExecution {
            guard let names else { return PostgreSQLExecution(isLocked ? allLockedAccounts : allAccounts) }
            return (isLocked ? lockedAccounts : namedAccounts).with(array: names)
        }

        private static let allDevices = PostgreSQLStatement(
            "all_devices", "SELECT \(columns) FROM ubiquity.device d ORDER BY d.number")
        private static let devicesOfAccounts = PostgreSQLStatement(
            "devices_of_accounts",
            """
            SELECT \(columns) FROM ubiquity.device d WHERE d.account = ANY ($1) ORDER BY d.number
            """, [.textArray])

        /// - Parameter names: nil for all.
        static func devices(ofAccounts names: [String]?) -> PostgreSQLExecution {
            names.map(devicesOfAccounts.with) ?? PostgreSQLExecution(allDevices)
        }

        static let devicesWithTokens = PostgreSQLStatement(
            "devices_with_tokens", "SELECT \(columns) FROM ubiquity.device d WHERE d.token_sha256 = ANY ($1)",
            [.bytesArray])

        /// The devices of an account, with what other nodes know of them.
        static let describedDevices = PostgreSQLStatement(
            "described_devices",
            """
            SELECT \(columns), p.seen, coalesce(p.is_connected, false) FROM ubiquity.device d
            LEFT JOIN LATERAL (
                SELECT max(p.seen) AS seen, bool_or(
                    p.stream_count > 0 AND n.seen > now() - interval '30 seconds') AS is_connected
                FROM ubiquity.presence p LEFT JOIN ubiquity.node n ON n.id = p.node
                WHERE p.device = d.id AND p.node <> $2
            ) p ON true
            WHERE d.account = $1 ORDER BY d.number
            """, [.text, .int64])

        /// Those of the account with a device of this id come first.
        static let accountsOfDevice = PostgreSQLStatement(
            "accounts_of_device",
            """
            SELECT account FROM ubiquity.device WHERE id = $1 OR name = $1
            GROUP BY account ORDER BY bool_or(id = $1) DESC LIMIT 2
            """, [.text])

        static let oldestRemoval = PostgreSQLStatement(
            "oldest_removal",
            """
            \(selectAccounts) WHERE removed IS NOT NULL ORDER BY removed LIMIT 1
            """)

        static let exist = PostgreSQLStatement("devices_exist", "SELECT EXISTS (SELECT FROM ubiquity.device)")

        static let instance = PostgreSQLStatement("instance", "SELECT instance FROM ubiquity.meta")

        // MARK: - Writing

        static let deleteDevices = PostgreSQLStatement(
            "delete_devices",
            """
            WITH deleted AS (DELETE FROM ubiquity.device WHERE id = ANY ($1))
            DELETE FROM ubiquity.presence WHERE device = ANY ($1)
            """, [.textArray])

        static let writeDevice = PostgreSQLStatement(
            "write_device",
            """
            INSERT INTO ubiquity.device
                (id, account, name, token_sha256, scopes, stores, created, trusted, page)
            VALUES ($1, $2, $3, $4, $5, string_to_array($6, ','), $7, $8, $9)
            ON CONFLICT (id) DO UPDATE SET
                name = excluded.name, scopes = excluded.scopes, stores = excluded.stores,
                trusted = excluded.trusted, page = excluded.page
            """, [.text, .text, .text, .bytes, .textArray, .text, .int64, .bool, .bool])

        static func writing(_ device: Device) -> PostgreSQLExecution {
            var parameters = PostgreSQLParameters()
            for text in [device.id, device.account, device.name] { parameters.append(text) }
            parameters.append(device.tokenSHA256.bytes)
            parameters.append(array: device.scopes.map(\.rawValue))
            parameters.append(device.stores?.joined(separator: ","))
            parameters.append(device.created)
            parameters.append(device.isTrusted)
            parameters.append(device.isPage)
            return PostgreSQLExecution(writeDevice, parameters)
        }

        /// Part of a change of an account: what nodes plan on its stores, they plan anew.
        private static let recordStores = """
            noted AS (
                UPDATE ubiquity.store SET version = version + 1 WHERE id IN (
                    SELECT id FROM ubiquity.store WHERE account = $1 ORDER BY id FOR UPDATE)
            )
            """

        static let deleteAccount = PostgreSQLStatement(
            "delete_account", "WITH \(recordStores) DELETE FROM ubiquity.account WHERE name = $1", [.text])

        /// An account under removal has no pairing codes.
        static let writeAccount = PostgreSQLStatement(
            "write_account",
            """
            WITH \(recordStores), deleted AS (
                DELETE FROM ubiquity.pairing WHERE account = $1 AND $5::bigint IS NOT NULL
            )
            INSERT INTO ubiquity.account (name, created, byte_limit, store_limit, removed)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (name) DO UPDATE SET
                byte_limit = excluded.byte_limit, store_limit = excluded.store_limit,
                removed = excluded.removed
            """, [.text, .int64, .int64, .int32, .int64])

        static func writing(_ account: Account) -> PostgreSQLExecution {
            writeAccount.with(
                account.name, account.created, account.byteLimit.map { Int64($0) },
                account.storeLimit.map { Int32(clamping: $0) }, account.removed)
        }

        /// Tells all nodes that devices of an account have changed, or the account has.
        static let markChanged = PostgreSQLStatement(
            "note_device_change",
            """
            WITH changed AS (UPDATE ubiquity.meta SET devices_version = devices_version + 1)
            SELECT pg_notify('ubiquity_devices', $1)
            """, [.text])

        /// Also for an account that has no row yet.
        static let lockAccountName = PostgreSQLStatement(
            "lock_account_name",
            "SELECT pg_advisory_xact_lock(hashtextextended('ubiquity.account ' || $1, 0))", [.text])

        // MARK: - Pairing codes

        static let pairingsOfAccount = PostgreSQLStatement(
            "pairings_of_account",
            "SELECT document FROM ubiquity.pairing WHERE account = $1 ORDER BY created FOR UPDATE", [.text])

        static let pairing = PostgreSQLStatement(
            "pairing", "SELECT document FROM ubiquity.pairing WHERE id = $1 FOR UPDATE", [.text])

        static let deletePairings = PostgreSQLStatement(
            "delete_pairings", "DELETE FROM ubiquity.pairing WHERE id = ANY ($1)", [.textArray])

        static let writePairing = PostgreSQLStatement(
            "write_pairing",
            """
            INSERT INTO ubiquity.pairing (id, account, maker, created, document)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (id) DO UPDATE SET document = excluded.document
            """, [.text, .text, .text, .int64, .bytes])

        static func writing(_ pairing: Pairing) -> PostgreSQLExecution {
            writePairing.with(pairing.id, pairing.account, pairing.maker, pairing.created, WireJSON.encode(pairing))
        }

        // MARK: - Presence

        /// Only for devices that exist.
        static let writePresence = PostgreSQLStatement(
            "write_presence",
            """
            INSERT INTO ubiquity.presence AS p (device, node, seen, stream_count)
            SELECT i.device, $1, i.seen, i.stream_count
            FROM unnest($2::text[], $3::bigint[], $4::integer[]) AS i (device, seen, stream_count)
            WHERE EXISTS (SELECT FROM ubiquity.device d WHERE d.id = i.device) ORDER BY i.device
            ON CONFLICT (device, node) DO UPDATE SET
                seen = greatest(p.seen, excluded.seen), stream_count = excluded.stream_count
            """, [.int64, .textArray, .int64Array, .int32Array])

        static let deletePresence = PostgreSQLStatement(
            "delete_presence", "DELETE FROM ubiquity.presence WHERE node = $1", [.int64])

        /// What nodes have left that did not stop.
        static let deleteAbandonedPresence = PostgreSQLStatement(
            "delete_abandoned_presence",
            """
            DELETE FROM ubiquity.presence p WHERE NOT EXISTS (
                SELECT FROM ubiquity.node n
                WHERE n.id = p.node AND n.seen > now() - interval '1 day')
                AND p.node <> $1
            """, [.int64])
    }
#endif
