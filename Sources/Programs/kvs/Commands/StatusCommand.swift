import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", _superCommandName: "kvs", abstract: "Show account, connection and quota.")

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        let environment = StoreEnvironment()
        var connection =
            try environment.credentials() == nil
            ? "none: no account has been joined" : "not checked"
        var problem: String?
        if opened.isOnline {
            do throws(StoreError) {
                try await opened.synchronize()
                connection = "reachable"
            } catch {
                (connection, problem) = (error.reason, error.code.rawValue)
            }
        }
        // Read again: the sync may have brought another name of this device.
        let report = try StatusReport(
            of: opened.store, credentials: environment.credentials(), connection: connection, problem: problem)
        if json {
            try Console.printJSON(report, isIndented: true, dates: .exact)
        } else {
            for line in report.lines(now: Date()) { try Console.print(line) }
        }
    }
}
