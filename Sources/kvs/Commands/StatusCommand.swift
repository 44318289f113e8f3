import ArgumentParser
import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import TerminalText

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Says how the store stands: account, connection, space.")

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let credentials = try StoreEnvironment().credentials()
        let opened = try options.open()
        defer { opened.store.close() }
        var connection = "not asked"
        if credentials == nil {
            connection = "none: no account has been joined"
        } else if opened.isOnline {
            do throws(StoreError) {
                _ = try await opened.synchronize(within: opened.timeout)
                connection = "reachable"
            } catch {
                connection = error.reason
            }
        }
        let directory = opened.store.configuration.directory
        let filesSetAside: [String]
        do throws(StorageFailure) {
            filesSetAside = try FileLogStorage.filesSetAside(in: directory)
        } catch {
            throw CommandFailure(.ioError, error.description)
        }
        let report = StatusReport(
            store: opened.store.configuration.storeName, credentials: credentials,
            connection: connection, status: opened.store.status,
            directory: directory, filesSetAside: filesSetAside)
        if json {
            try Console.write(JSONOutput.data(report.document, isIndented: true))
        } else {
            for line in report.lines(now: Date()) { try Console.print(line) }
        }
    }
}
