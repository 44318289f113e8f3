import ArgumentParser
import Commands
import Essentials
import KVStoreSimulation
import LocalFiles
import Synchronization

/// The record of a command's session. If it ends early, that is reported at once, and the session goes on.
final class SessionRecord: Sendable {
    private let file: RecordFile
    private let hasFailed = Mutex(false)

    /// Replaces the content of a file that is there.
    init(_ path: String) throws(CommandFailure) {
        do throws(FileError) {
            file = try RecordFile(path)
        } catch {
            throw CommandFailure(.cannotCreate, error.description)
        }
    }

    /// Writes whole lines.
    func write(_ lines: Data) {
        guard let failure = file.write(lines) else { return }
        hasFailed.withLock { $0 = true }
        Console.report(failure)
    }

    /// Ends the command with a status other than 0 if the record has ended early.
    func checkCompleteness() throws(ExitCode) {
        if hasFailed.withLock({ $0 }) { throw ExitCode(ExitStatus.ioError.rawValue) }
    }
}
