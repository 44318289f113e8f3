package import Essentials
import KVStoreCore
import KVStoreLog
import LocalFiles

/// The values of a replica as its log has them on the disk, read without opening the store.
///
/// Nothing is created, repaired, waited for or sent, so it takes about a millisecond, and other processes may have the
/// store open. What a process is writing meanwhile is left out.
package struct ReplicaReading: Sendable {
    /// The values of type data, by key.
    package private(set) var values: [String: Data] = [:]
    /// When the daemon last answered; nil if it never did.
    package let lastSyncMilliseconds: Int64?

    /// A write under way may look like damage for an instant.
    private static let attempts = 3

    /// Blocks while the log is read. A directory that is missing is one without values.
    ///
    /// - Parameter isWanted: the keys to return.
    /// - Throws: `damaged` for a log that is damaged or of a newer program, `storage` for one that cannot be read.
    package init(directory: String, where isWanted: (String) -> Bool) throws(StoreError) {
        do throws(LogError) {
            let replica = try Self.replica(in: directory)
            lastSyncMilliseconds = replica?.state.lastSyncMilliseconds
            for (key, content) in replica?.visibleContents ?? [:] where isWanted(key.text) {
                // Other bytes are no value of type data.
                guard case .value(let bytes) = content, case .data(let data)? = try? PropertyListValue(encoded: bytes)
                else { continue }
                values[key.text] = data
            }
        } catch {
            throw StoreError(error, operation: "read")
        }
    }

    /// Whether a replica has values, or may have some because its log cannot be read.
    package static func hasValues(in directory: String) -> Bool {
        do throws(LogError) { return try replica(in: directory)?.visibleContents.isEmpty == false } catch {
            return true
        }
    }

    /// Nil without a directory.
    private static func replica(in directory: String) throws(LogError) -> Replica? {
        var attempt = 1
        while true {
            do throws(LogError) {
                return try read(directory)
            } catch .storage(let error) where error.isMissing {
                return nil
            } catch .damaged(let damage) {
                guard attempt < attempts else { throw .damaged(damage) }
                attempt += 1
            }
        }
    }

    private static func read(_ directory: String) throws(LogError) -> Replica {
        let storage: ReadOnlyLogStorage
        do throws(FileError) {
            storage = try ReadOnlyLogStorage(directory: directory)
        } catch {
            throw .storage(error)
        }
        var replica = Replica(id: ReplicaID(rawValue: 0), limits: StoreLimits(), seed: 0)
        var damage: LogDamage?
        let log = SegmentedLog(
            storage: storage,
            options: SegmentedLog.Options(segmentByteCount: 0, isShared: true, newLogID: 0, isReadOnly: true))
        let recovery = try log.open { frame in
            guard let entries = ReplicaEntry.entries(in: frame) else {
                return damage = DurableReplica.unreadable(frame, in: storage)
            }
            for entry in entries { _ = replica.replay(entry) }
        }
        if let damage = (recovery.damage + recovery.unsyncedGaps).first ?? damage {
            throw .damaged(damage)
        }
        return replica
    }
}
