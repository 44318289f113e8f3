package import KVStoreCore
import Synchronization

/// A disk in memory that several "processes" share. It knows which bytes have been synced, so that a
/// power failure can drop any part of the rest.
package final class MemoryDisk: Sendable {
    struct Inode: Sendable {
        var content: [UInt8]
        var synced: [UInt8]
        /// Written since the last sync, in order.
        var pending: [(offset: Int, bytes: [UInt8])] = []
    }

    struct State: Sendable {
        var identity: UInt64 = 1
        var names: [UInt64: Int] = [:]
        var inodes: [Inode] = []
        var quarantined: [String: [UInt8]] = [:]
        var lockOwner: ObjectIdentifier?
    }

    let state: Mutex<State>

    package init() { state = Mutex(State()) }

    private init(_ state: State) { self.state = Mutex(state) }

    package var segments: [UInt64] { state.withLock { $0.names.keys.sorted() } }

    package var quarantinedFiles: [String: [UInt8]] { state.withLock { $0.quarantined } }

    package func bytes(of segment: UInt64) -> [UInt8] {
        state.withLock { state in state.names[segment].map { state.inodes[$0].content } ?? [] }
    }

    /// Where the last byte of a segment is that is not zero.
    package func lastByte(of segment: UInt64) -> Int? { bytes(of: segment).lastIndex { $0 != 0 } }

    /// Puts a file there, synced.
    package func put(_ bytes: [UInt8], segment: UInt64) {
        state.withLock { state in
            state.inodes.append(Inode(content: bytes, synced: bytes))
            state.names[segment] = state.inodes.count - 1
        }
    }

    /// Changes a file in place, as a failing drive would: every process sees it.
    package func damage(_ segment: UInt64, at offset: Int, _ change: (UInt8) -> UInt8) {
        state.withLock { state in
            guard let inode = state.names[segment] else { return }
            state.inodes[inode].content[offset] = change(state.inodes[inode].content[offset])
            state.inodes[inode].synced = state.inodes[inode].content
        }
    }

    package func removeFile(_ segment: UInt64) {
        state.withLock { state in _ = state.names.removeValue(forKey: segment) }
    }

    /// An equal disk of its own.
    package func copy() -> MemoryDisk {
        let copy = MemoryDisk()
        for segment in segments { copy.put(bytes(of: segment), segment: segment) }
        return copy
    }

    /// What a disk holds after power is lost: all that was synced and any subset of the 512-byte
    /// sectors written since.
    package func afterPowerLoss(using random: inout SplitMix64) -> MemoryDisk {
        var left = state.withLock { $0 }
        left.lockOwner = nil
        let keepsInTenths = Int.random(in: 0...10, using: &random)
        for index in left.inodes.indices {
            var bytes = left.inodes[index].synced
            for write in left.inodes[index].pending {
                var start = write.offset
                let end = write.offset + write.bytes.count
                while start < end {
                    let stop = min(end, (start / 512 + 1) * 512)
                    if Int.random(in: 0..<10, using: &random) < keepsInTenths {
                        let part = write.bytes[start - write.offset..<stop - write.offset]
                        bytes.replaceSubrange(start..<stop, with: part)
                    }
                    start = stop
                }
            }
            left.inodes[index] = Inode(content: bytes, synced: bytes)
        }
        return MemoryDisk(left)
    }
}

extension MemoryDisk {
    /// The same files in another place.
    package func movedCopy() -> MemoryDisk {
        let copy = copy()
        copy.state.withLock { $0.identity += 1 }
        return copy
    }
}
