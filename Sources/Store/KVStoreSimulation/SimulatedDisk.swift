// What simulations share: a disk in memory and a network with fault injection, why a value won, and
// the lines of a record. Not here: whole simulated worlds (Tests/Support/SimulatedWorld), SimulatedCloud
// (KVStoreTesting) and the emulator.

import Essentials
package import KVStoreCore

/// A disk in memory that keeps durable bytes apart from those in the page cache, and fails as its faults say.
///
/// A killed process loses nothing that it has written. A power failure keeps any subset of the sectors written since
/// the last sync. Segments appear and disappear durably, as `LogStorage` promises. All members may be called from
/// any thread; the same seed gives the same losses where one thread makes all calls.
package final class SimulatedDisk: @unchecked Sendable {
    /// A segment's file; processes that have it open keep it after its removal. Used under the disk's lock.
    final class Inode: @unchecked Sendable {
        var current: [UInt8]
        var durable: [UInt8]
        /// Written since the last sync, in order.
        var unsynced: [Range<Int>] = []
        /// Failed syncs so far: each open file reports each of them once, as on Linux.
        var failureCount = 0

        init(_ bytes: [UInt8]) { (current, durable) = (bytes, bytes) }

        init(_ other: Inode) {
            (current, durable, unsynced) = (other.current, other.durable, other.unsynced)
        }

        /// Changes the file from outside: durable at once.
        func replace(_ bytes: [UInt8]) { (current, durable, unsynced) = (bytes, bytes, []) }
    }

    /// The disk's one lock; everything without an access level is used under it.
    let condition = Condition()
    var segments: [UInt64: Inode] = [:]
    var plan = FaultPlan()
    var random: SplitMix64
    /// Who took the appenders' lock; it is free again where that process is gone.
    var owner: (storage: ObjectIdentifier, life: Life, thread: Int)?
    private var lives: [Life] = []
    var copies: [String: [UInt8]] = [:]
    private var number: UInt64
    private var counts: [String: Int] = [:]

    package init(seed: UInt64 = 1) {
        random = SplitMix64(seed: seed)
        number = random.next()
    }

    /// A new process's view of the disk.
    package func storage() -> SimulatedStorage { storage(for: Life()) }

    package func storage(for life: Life) -> SimulatedStorage {
        locked { lives.append(life) }
        return SimulatedStorage(disk: self, life: life)
    }

    /// Faults that strike the calls of all processes.
    package var faults: FaultPlan {
        get { locked { plan } }
        set { locked { plan = newValue } }
    }

    /// Faults that took effect, by name.
    package var injected: [String: Int] { locked { counts } }

    /// What a copy of the disk in another place, or one restored from a backup, does not share.
    package var identity: UInt64 { locked { number } }

    /// Copies of damaged segments by their paths.
    package var quarantined: [String: [UInt8]] { locked { copies } }

    /// A segment's bytes as processes read them. Setting them changes the file from outside, durably and for all
    /// who have it open; nil removes it.
    package subscript(segment: UInt64) -> [UInt8]? {
        get { locked { segments[segment]?.current } }
        set {
            locked {
                if let newValue, let inode = segments[segment] { return inode.replace(newValue) }
                segments[segment] = newValue.map { Inode($0) }
            }
        }
    }

    /// All segments as processes read them, for a backup or a copied directory.
    package func snapshot() -> [UInt64: [UInt8]] { locked { segments.mapValues(\.current) } }

    /// Puts other files in the place of all segments, under a new identity.
    package func restore(_ snapshot: [UInt64: [UInt8]]) {
        locked {
            segments = snapshot.mapValues { Inode($0) }
            number = random.next()
        }
    }

    /// An equal disk of its own under the same identity, without faults: a branch of this one's history.
    package func copy() -> SimulatedDisk {
        let copy = SimulatedDisk()
        locked {
            copy.segments = segments.mapValues { Inode($0) }
            (copy.random, copy.number, copy.copies) = (random, number, copies)
        }
        return copy
    }

    /// Power fails: all processes are gone, and each sector written since the last sync survives if `isKept` says so.
    package func powerFails(keeping isKept: (inout SplitMix64) -> Bool = { Bool.random(using: &$0) }) {
        locked {
            for life in lives { life.end() }
            lives = []
            condition.broadcast()
            for (_, inode) in segments.sorted(by: { $0.key < $1.key }) {
                for range in inode.unsynced {
                    let first = range.lowerBound / 512 * 512
                    for start in stride(from: first, to: range.upperBound, by: 512) where isKept(&random) {
                        let sector = range.clamped(to: start..<start + 512)
                        inode.durable.replaceSubrange(sector, with: inode.current[sector])
                        count("unsynced sector lost or kept")
                    }
                }
                inode.replace(inode.durable)
            }
        }
    }

    /// Flips a bit in a segment, or in the last used bytes of the last one; returns whether there was one to flip.
    package func flipBit(inLastBytes tail: Int?) -> Bool {
        locked {
            let used = segments.keys.sorted().filter { segments[$0]!.current.contains { $0 != 0 } }
            guard let segment = tail == nil ? used.randomElement(using: &random) : used.last,
                let inode = segments[segment], let end = inode.current.lastIndex(where: { $0 != 0 })
            else { return false }
            let start = tail.map { max(0, end + 1 - $0) } ?? 0
            let offset = Int.random(in: start...end, using: &random)
            inode.current[offset] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            inode.replace(inode.current)
            count("bit flipped")
            return true
        }
    }

    func locked<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return try body()
    }

    func count(_ name: String) { counts[name, default: 0] += 1 }
}
