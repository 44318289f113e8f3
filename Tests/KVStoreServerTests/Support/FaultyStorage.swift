import Dispatch
import KVStoreLog
import LocalFiles
import Synchronization

/// Real files whose syncs are counted, held up or made to fail, on a disk that can be full.
final class FaultyStorage: LogStorage {
    struct State {
        var isFull = false
        var failsSync = false
        var failsWrite = false
        var syncs = 0
        /// The number of a sync that fails.
        var failingSync: Int?
        /// Set to hold the next syncs up, or only the one of this number.
        var gate: DispatchSemaphore?
        var gatedSync: Int?
        var onSync: (@Sendable () -> Void)?
    }

    let state = Mutex(State())
    private let base: FileLogStorage

    init(directory: String) throws { base = try FileLogStorage(directory: directory) }

    var identity: UInt64 { base.identity }

    /// Holds the next syncs up, or only the one of a number; `began` has an element for each sync that begins.
    func holdSyncs(
        only number: Int? = nil
    ) -> (gate: DispatchSemaphore, began: AsyncStream<Void>) {
        let gate = DispatchSemaphore(value: 0)
        let (began, signal) = AsyncStream.makeStream(of: Void.self)
        state.withLock { state in
            state.gate = gate
            state.gatedSync = number
            state.onSync = { signal.yield() }
        }
        return (gate, began)
    }

    var syncs: Int { state.withLock { $0.syncs } }

    func segments() throws(FileError) -> [UInt64] { try base.segments() }

    func open(segment: UInt64) throws(FileError) -> (any LogFile)? {
        guard let file = try base.open(segment: segment) else { return nil }
        return FaultyFile(file, self)
    }

    func create(
        segment: UInt64, content: [UInt8], byteCount: Int
    ) throws(FileError) -> any LogFile {
        if state.withLock({ $0.isFull }) {
            throw FileError(
                operation: "reserve space for", path: path(segment: segment), code: 28)
        }
        return FaultyFile(
            try base.create(segment: segment, content: content, byteCount: byteCount), self)
    }

    func syncNames() throws(FileError) { try base.syncNames() }

    func remove(segment: UInt64) throws(FileError) { try base.remove(segment: segment) }

    func quarantine(segment: UInt64) throws(FileError) -> String {
        try base.quarantine(segment: segment)
    }

    func lock() throws(FileError) { try base.lock() }
    func unlock() { base.unlock() }
    func lockIfFree() throws(FileError) -> Bool { try base.lockIfFree() }
    func path(segment: UInt64) -> String { base.path(segment: segment) }
}

private final class FaultyFile: LogFile {
    private let base: any LogFile
    private let storage: FaultyStorage

    init(_ base: any LogFile, _ storage: FaultyStorage) {
        self.base = base
        self.storage = storage
    }

    var byteCount: Int { base.byteCount }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileError) -> Int {
        try base.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
        if storage.state.withLock({ $0.failsWrite }) {
            throw FileError(operation: "write", path: "segment", code: 5)
        }
        try base.write(bytes, at: offset)
    }

    func sync() throws(FileError) {
        let (fails, gate, onSync) = storage.state.withLock { state in
            state.syncs += 1
            return (
                state.failsSync || state.failingSync == state.syncs,
                (state.gatedSync ?? state.syncs) == state.syncs ? state.gate : nil, state.onSync
            )
        }
        onSync?()
        gate?.wait()
        if fails {
            throw FileError(operation: "sync", path: "segment", code: 5)
        }
        try base.sync()
    }
}
