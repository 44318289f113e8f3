import ArgumentParser
import Commands
import Essentials
import KVStoreEmulator
import KVStoreServer
import KVStoreSimulation
import KVStoreWire
import LocalFiles

extension EmulatorCommand {
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay",
            abstract: "Repeat a recorded session and compare what comes of it.",
            discussion: """
                Repeats the requests, faults and times of a record in a new emulator that listens nowhere. Exits \
                with 0 if every line comes out the same, byte for byte, and with 1 otherwise, naming the first \
                line that differs. The record of a session that was killed is compared up to its last line.

                  kvsd emulator exec --record failure.jsonl -- make test
                  kvsd emulator replay failure.jsonl
                """)

        @Argument(help: "The record.", completion: .file()) var file: String

        @Option(help: ArgumentHelp("Write the record of the replay.", valueName: "file"), completion: .file())
        var record: String?

        @Flag(help: "Print the result as JSON.") var json = false

        func run() async throws {
            let content: LocalFile.Content?
            do throws(FileError) {
                content = try LocalFile(file).read(byteLimit: RecordFile.byteLimit)
            } catch {
                throw CommandFailure(.noInput, error.description)
            }
            guard let content else { throw CommandFailure(.noInput, "cannot replay \(file): no such file") }
            let lines = try record.map(SessionRecord.init)
            let report: ReplayReport
            do throws(ServerError) {
                report = try await Emulator.replay(content.data) { lines?.write($0) }
            } catch {
                throw CommandFailure(.dataError, "cannot replay \(file): \(error.message)")
            }
            if json {
                try Console.printJSON(
                    ReplayDocument(
                        requestCount: report.requestCount, lineCount: report.lineCount,
                        isSame: report.difference == nil, isCut: report.isCut, line: report.difference?.line,
                        recorded: report.difference?.recorded, replayed: report.difference?.replayed))
            } else if let difference = report.difference {
                func line(_ text: String?) -> String {
                    text.map { $0.printable(scalarLimit: 500) } ?? "(nothing)"
                }
                try Console.print(
                    """
                    line \(difference.line) differs
                    recorded: \(line(difference.recorded))
                    replayed: \(line(difference.replayed))
                    """)
            } else {
                try Console.print(
                    "\(report.requestCount) requests repeated; all \(report.lineCount) lines are the same"
                        + (report.isCut
                            ? "\nthe record is cut after line \(report.lineCount): the session did not end normally"
                            : ""))
            }
            if report.difference != nil { throw ExitCode(1) }
            try lines?.checkCompleteness()
        }
    }
}

private struct ReplayDocument: Encodable {
    var requestCount: Int
    var lineCount: Int
    var isSame: Bool
    var isCut: Bool
    /// The first that differs.
    var line: Int?
    var recorded: String?
    var replayed: String?
}
