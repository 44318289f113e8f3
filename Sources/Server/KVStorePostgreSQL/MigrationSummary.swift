#if PostgreSQL
    import Crypto
    import Essentials
    import KVStoreCore
    package import KVStoreLedger

    extension StoreContents {
        /// The SHA-256 of everything that moves.
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
        /// The size of all values.
        package private(set) var byteCount = 0
        package var deviceCount = 0
        private var hash = Data(SHA256.hash(data: Data()))

        package init() {}

        /// Stores are added in order.
        package mutating func add(_ store: StoreContents, _ checksum: [UInt8]) {
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
#endif
