import ArgumentParser
import Commands
import KVStoreEssentials

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", _superCommandName: "kvs", abstract: "Send and receive pending changes now.")

    @Flag(help: "Print the numbers of sent, received and pending keys as JSON.")
    var json = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        guard opened.isOnline else { throw OpenedStore.notJoined }
        let report = try await opened.synchronize()
        let (sent, received, pending) = (report.sentKeyCount, report.receivedKeyCount, report.pendingKeyCount)
        if json {
            try Console.printJSON(["sent": sent, "received": received, "pending": pending])
        } else {
            try Console.print("sent \(sent), received \(received), pending \(pending)")
        }
        if pending > 0 { throw OpenedStore.notAccepted(report) }
    }
}
