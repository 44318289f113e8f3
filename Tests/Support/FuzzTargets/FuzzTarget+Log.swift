import KVStore
import KVStoreCore
import KVStoreEssentials
import KVStoreLedger
import KVStoreLog
import KVStoreSimulation

extension FuzzTarget {
    /// The first byte chooses what follows: the bytes of a segment (0); frames, which get valid checksums (1); or a
    /// number of bytes to change in the segment, each an offset (2 bytes) and a mask, and then frames. A frame is the
    /// kind, the size of the payload (2 bytes) and the payload.
    static func openLog(_ bytes: UnsafeRawBufferPointer) {
        guard let mode = bytes.first, bytes.count <= 65_536 else { return }
        let disk = SimulatedDisk()
        switch mode {
        case 0: disk[1] = Array(bytes.dropFirst())
        case 1: write(frames(in: bytes.dropFirst()), to: disk)
        default:
            let changes = bytes.dropFirst().prefix(3 * Int(mode & 7))
            write(frames(in: bytes.dropFirst(1 + changes.count)), to: disk)
            guard var segment = disk[1] else { return }
            var rest = changes
            while let offset = number(&rest), let mask = rest.popFirst() {
                if offset < segment.count { segment[offset] ^= mask }
            }
            disk[1] = segment
        }
        openLedger(disk.copy())
        openReplica(disk)
    }

    private static func number(_ bytes: inout Slice<UnsafeRawBufferPointer>) -> Int? {
        guard let low = bytes.popFirst(), let high = bytes.popFirst() else { return nil }
        return Int(low) | Int(high) << 8
    }

    private static func frames(in bytes: Slice<UnsafeRawBufferPointer>) -> [LogPayload] {
        var frames: [LogPayload] = []
        var rest = bytes
        while let kind = rest.popFirst(), let count = number(&rest), kind != 0, kind != 255,
            count > 0, frames.count < 1_000
        {
            frames.append(LogPayload(kind: kind, bytes: Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        return frames.filter { !$0.bytes.isEmpty }
    }

    private static func write(_ frames: [LogPayload], to disk: SimulatedDisk) {
        let log = SegmentedLog(
            storage: disk.storage(),
            options: SegmentedLog.Options(segmentByteCount: 4_096, isShared: true, newLogID: 1))
        do throws(LogError) {
            _ = try log.open { _ in }
            try log.exclusively(visit: { _ in }) { () throws(LogError) in
                for frame in frames { try log.append([frame]) }
            }
            try log.close()
        } catch { fatalError("a disk without faults failed: \(error)") }
    }

    /// Looking changes nothing, agrees with opening, and what was opened once opens again as the same.
    private static func openLedger(_ disk: SimulatedDisk) {
        let before = disk.snapshot()
        let inspection = try? Ledger.inspect(disk.storage())
        check(disk.snapshot() == before, "inspecting changes nothing")
        guard let ledger = try? Ledger(storage: disk.storage(), seed: 1) else { return }
        check(inspection?.recovery.damage.isEmpty == true, "damage is an error")
        check(inspection?.stores.map(\.id) == ledger.allStores, "inspecting agrees with opening")
        let entries = ledger.allStores.map { ledger.hub($0)?.entries }
        check((try? ledger.close()) != nil, "a ledger closes")
        guard let again = try? Ledger(storage: disk.storage(), seed: 2) else {
            fatalError("what was opened does not open again")
        }
        check(again.recovery.cutWrites.isEmpty, "a cut is made once")
        check(entries == again.allStores.map { again.hub($0)?.entries }, "the same records")
    }

    /// A replica opens damaged files, and finds the same when it opens them again.
    private static func openReplica(_ disk: SimulatedDisk) {
        guard let first = open(disk) else { return }
        let contents = first.replica.visibleContents
        check((try? first.close()) != nil, "a replica closes")
        guard let again = open(disk) else { fatalError("what was opened does not open again") }
        check(again.recovery.damage.isEmpty, "damage is reported once")
        check(again.replica.visibleContents == contents, "the same values")
    }

    private static func open(_ disk: SimulatedDisk) -> DurableReplica? {
        try? DurableReplica(storage: disk.storage(), options: DurableReplica.Options(), seed: 1)
    }
}
