#if PostgreSQL
    import Crypto
    import Essentials
    package import KVStoreCore
    package import KVStoreLedger

    /// A store as it moves between a log and a database: with all records, sequence numbers and epochs.
    package struct MigratedStore {
        package let id: StoreID
        package let hub: Hub
        /// Whether it was removed and not created again.
        package let isRemoved: Bool

        package init(id: StoreID, hub: Hub, isRemoved: Bool) {
            self.id = id
            self.hub = hub
            self.isRemoved = isRemoved
        }

        /// Of everything that moves.
        var checksum: [UInt8] {
            var hash = SHA256()
            var bytes = Array("\(id.account)/\(id.name) \(isRemoved) ".utf8) + hub.state.encoded
            for entry in hub.entries.values.sorted(by: { $0.record.key < $1.record.key }) {
                let key = entry.record.key.text.utf8
                bytes.append(littleEndian: UInt32(key.count))
                bytes.append(contentsOf: key)
                bytes.append(littleEndian: entry.sequence)
                bytes.append(entry.record.stamp)
                switch entry.record.content {
                case .tombstone: bytes.append(0)
                case .value(let data):
                    bytes.append(1)
                    bytes.append(littleEndian: UInt32(data.count))
                    bytes.append(contentsOf: data)
                }
                hash.update(data: bytes)
                bytes.removeAll(keepingCapacity: true)
            }
            hash.update(data: bytes)
            return Array(hash.finalize())
        }
    }

    /// What has moved, in numbers; equal on both sides.
    package struct MigrationSummary: Sendable, Equatable {
        package private(set) var storeCount = 0
        package private(set) var removedStoreCount = 0
        /// Keys with a value.
        package private(set) var keyCount = 0
        package private(set) var tombstoneCount = 0
        /// Of all values.
        package private(set) var byteCount = 0
        package var deviceCount = 0
        private var hash = Data(SHA256.hash(data: Data()))

        package init() {}

        /// Stores are added in order.
        package mutating func add(_ store: MigratedStore, _ checksum: [UInt8]) {
            if store.isRemoved { removedStoreCount += 1 } else { storeCount += 1 }
            keyCount += store.hub.keyCount
            tombstoneCount += store.hub.tombstoneCount
            byteCount += store.hub.byteCount
            hash = Data(SHA256.hash(data: hash + checksum))
        }

        /// The first digits of the SHA-256 of everything.
        package var checksum: String {
            hash.prefix(8).reduce("") { $0 + $1.hexadecimal(digits: 2) }
        }
    }

    extension LedgerFollower {
        /// What a store is; nil for one that the log does not have any more.
        package func migratedStore(_ id: StoreID) -> MigratedStore? {
            store(id).map { MigratedStore(id: id, hub: $0.hub, isRemoved: $0.isRemoved) }
        }

        /// All stores, also removed ones, sorted by account and name.
        package var migratedStores: [MigratedStore] {
            allStores.sorted().compactMap(migratedStore)
        }
    }

    extension LedgerInspection {
        /// All stores, also removed ones, sorted by account and name.
        package var migratedStores: [MigratedStore] {
            let present = stores.map { MigratedStore(id: $0.id, hub: $0.hub, isRemoved: false) }
            let gone = removed.map {
                MigratedStore(id: $0.id, hub: Hub($0.state), isRemoved: true)
            }
            return (present + gone).sorted { $0.id < $1.id }
        }
    }
#endif
