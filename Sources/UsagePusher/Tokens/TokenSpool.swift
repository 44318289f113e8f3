import LocalFiles
import Synchronization

/// Where the entries of a scan wait, by a part of their ids, until they are merged. Any thread may use it.
///
/// A part is merged alone, so that memory is bounded by the largest of them: beyond some megabytes entries wait in the
/// scratch file.
final class TokenSpool: Sendable {
    static let partCount = 256
    static let entryByteCount = MemoryLayout<TokenEntry>.stride
    /// Entries in memory: 4 MiB.
    private static let memoryCount = 65_536

    static func part(of id: UInt64) -> Int { Int(id >> 56) }

    private struct State {
        var parts = [[TokenEntry]](repeating: [], count: partCount)
        var count = 0
        /// Runs of entries in the scratch file, by part: the offset and the number.
        var runs = [[(offset: Int64, count: Int)]](repeating: [], count: partCount)
        var end: Int64 = 0
    }

    private let scratch: ScratchFile?
    private let state = Mutex(State())

    /// - Parameter scratch: nil to keep everything in memory.
    init(scratch: ScratchFile?) { self.scratch = scratch }

    var isEmpty: Bool { state.withLock { $0.count == 0 && $0.end == 0 } }

    func add(_ entries: [TokenEntry]) {
        state.withLock { state in
            for entry in entries { state.parts[Self.part(of: entry.id)].append(entry) }
            state.count += entries.count
            if state.count >= Self.memoryCount, let scratch { Self.write(&state, to: scratch) }
        }
    }

    private static func write(_ state: inout State, to scratch: ScratchFile) {
        for part in 0..<partCount where !state.parts[part].isEmpty {
            do throws(FileError) {
                try scratch.write(state.parts[part], at: state.end)
            } catch {
                // It stays in memory.
                continue
            }
            let count = state.parts[part].count
            state.runs[part].append((state.end, count))
            state.end += Int64(count * entryByteCount)
            state.count -= count
            state.parts[part].removeAll(keepingCapacity: true)
        }
    }

    /// Takes out all entries of a part, in no order.
    func takeEntries(ofPart part: Int) throws(FileError) -> [TokenEntry] {
        let (inMemory, runs) = state.withLock { state in
            defer { state.parts[part] = [] }
            return (state.parts[part], state.runs[part])
        }
        guard !runs.isEmpty, let scratch else { return inMemory }
        var entries = inMemory
        entries.reserveCapacity(runs.reduce(inMemory.count) { $0 + $1.count })
        for run in runs { entries += try scratch.values(at: run.offset, count: run.count) }
        return entries
    }
}
