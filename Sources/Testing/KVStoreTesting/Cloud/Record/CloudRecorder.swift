import Foundation
import KVStore
import KVStoreSimulation
import KVStoreWire
import LocalFiles
import Synchronization

/// Writes the record of a cloud as things happen, and compares it with an earlier one. Safe to call from any thread.
final class CloudRecorder: Sendable {
    fileprivate struct State {
        var lastID: UInt64 = 0
        var lineNumber = 0
        /// The earlier record, up to the first difference.
        var earlier: RecordedLines?
        /// The first failure or difference, until it is thrown.
        var error: CloudError?
    }

    private let file: RecordFile?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - path: of the file to write; one that is there is replaced.
    ///   - earlier: its first line has not been read.
    init(_ start: RecordStart, path: String?, comparedWith earlier: RecordedLines? = nil) {
        var state = State(earlier: earlier)
        var file: RecordFile?
        if let path {
            do throws(FileError) { file = try RecordFile(path) } catch {
                state.error = .recordFailed(error.description)
            }
        }
        self.file = file
        self.state = Mutex(state)
        self.state.withLock { write(["record": start], &$0) }
    }

    /// What no call has thrown is reported on standard error, so that it is not lost with the end of a test.
    deinit {
        state.withLock { state in
            state.compare(nil)
            if let error = state.error { Diagnostics.write("SimulatedCloud: \(error)") }
        }
    }

    func append(_ event: EventDocument) {
        state.withLock { state in
            state.lastID += 1
            write(RecordedEvent(event, id: state.lastID), &state)
        }
    }

    /// Throws the first failure or difference, once.
    func check() throws(CloudError) {
        let error = state.withLock { state in
            defer { state.error = nil }
            return state.error
        }
        if let error { throw error }
    }

    private func write(_ line: some Encodable, _ state: inout State) {
        let line = WireJSON.encode(line)
        if let failure = file?.write(line + Data("\n".utf8)) {
            state.error = state.error ?? .recordFailed(failure)
        }
        state.compare(line)
    }
}

extension CloudRecorder.State {
    /// - Parameter line: nil at the end.
    fileprivate mutating func compare(_ line: Data?) {
        lineNumber += 1
        guard earlier != nil else { return }
        do throws(FileError) {
            let recorded = try earlier?.next()
            guard recorded != line else { return }
            let common = zip(recorded ?? Data(), line ?? Data()).prefix { $0 == $1 }.count
            error =
                error
                ?? .differsFromRecord(
                    line: lineNumber, recorded: recorded.map { Self.excerpt(of: $0, at: common) },
                    present: line.map { Self.excerpt(of: $0, at: common) })
        } catch {
            self.error = self.error ?? .recordFailed(error.description)
        }
        earlier = nil
    }

    /// A long line from a little before the position on.
    private static func excerpt(of line: Data, at position: Int) -> String {
        let byteCount = 400
        guard line.count > byteCount else { return String(decoding: line, as: UTF8.self) }
        let start = max(0, position - byteCount / 4)
        return (start > 0 ? "…" : "") + String(decoding: line.dropFirst(start).prefix(byteCount), as: UTF8.self)
            + (start + byteCount < line.count ? "…" : "")
    }
}
