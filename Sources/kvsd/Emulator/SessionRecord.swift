import CommandSupport
import Essentials
import KVStoreSimulation
import LocalFiles

/// Writes the record of a command's session. If it ends early, that is reported and the session goes on.
struct SessionRecord: Sendable {
    private let file: RecordFile

    /// Replaces a file that is there.
    init(_ path: String) throws(CommandFailure) {
        do throws(FileError) {
            file = try RecordFile(path)
        } catch {
            throw CommandFailure(.cannotCreate, error.description)
        }
    }

    /// Writes whole lines.
    func write(_ lines: Data) {
        if let failure = file.write(lines) { Console.report(failure) }
    }
}
