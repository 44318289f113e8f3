import ArgumentParser
import CommandSupport
import KVStore

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Sends and receives now, and says what was done.")

    @Flag(help: "Print sent, received and pending as JSON.")
    var json = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        guard opened.isOnline else {
            throw CommandFailure(
                .configuration,
                options.isLocalOnly
                    ? "sync and --no-sync do not go together"
                    : "no account has been joined (run kvs join URL)")
        }
        let report = try await opened.synchronize(within: opened.timeout)
        if json {
            try Console.write(JSONOutput.data(SyncDocument(report)))
        } else {
            try Console.print(
                "sent \(report.sentKeyCount), received \(report.receivedKeyCount), "
                    + "waiting \(report.pendingKeyCount)")
        }
        if report.pendingKeyCount > 0 {
            throw CommandFailure(
                .temporaryFailure,
                "the daemon does not take \(report.pendingKeyCount) keys for now: remove some "
                    + "values and run kvs sync again")
        }
    }
}

private struct SyncDocument: Encodable {
    var sent: Int
    var received: Int
    var pending: Int

    init(_ report: SyncReport) {
        sent = report.sentKeyCount
        received = report.receivedKeyCount
        pending = report.pendingKeyCount
    }
}
