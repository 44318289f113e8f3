import ArgumentParser
import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show account, connection and quota.")

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let credentials = try StoreEnvironment().credentials()
        let opened = try options.open()
        defer { opened.store.close() }
        var connection = credentials == nil ? "none: no account has been joined" : "not checked"
        if opened.isOnline {
            do throws(StoreError) {
                try await opened.synchronize()
                connection = "reachable"
            } catch {
                connection = error.reason
            }
        }
        let directory = opened.store.configuration.directory
        let report = StatusReport(
            store: options.storeName, credentials: credentials, connection: connection,
            status: opened.store.status, directory: directory,
            damagedFiles: try opened.store.configuration.quarantinedFiles())
        if json {
            try Console.write(JSONOutput.data(report.document, isIndented: true))
        } else {
            for line in report.lines(now: Date()) { try Console.print(line) }
        }
    }
}
