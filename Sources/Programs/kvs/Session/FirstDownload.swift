import Commands
import KVStoreEssentials
import KVStoreHTTP
import TerminalText

/// The first sync after joining, so that this machine's next write replaces a value instead of yielding to it. If it
/// fails, the next command makes up for it.
struct FirstDownload {
    let credentials: Credentials
    let timeoutSeconds: Double

    /// Syncs the account's stores and those that this machine has added, and prints what they contain.
    func run(besides moved: [String]) async throws {
        var names = Set(moved + [StoreConfiguration.defaultStoreName])
        do throws(SyncTransportError) {
            let client = DaemonClient(credentials, timeouts: HTTPTimeouts(within: .seconds(timeoutSeconds)))
            defer { client.close() }
            let identity = try await client.me()
            names.formUnion(try await client.stores())
            if let permitted = identity.stores { names.formIntersection(permitted) }
            _ = try? await AccountDevices(credentials).ask(client)  // The next command asks again.
        } catch {
            Console.report("the account's stores are not known yet: \(error)")
        }
        for name in names.sorted() {
            let status: StoreStatus
            do throws(StoreError) {
                let opened = try OpenedStore(name: name, timeoutSeconds: timeoutSeconds)
                defer { opened.store.close() }
                try await opened.synchronize()
                status = opened.store.status
            } catch {
                Console.report("store \(name) has not been downloaded yet: \(error.reason)")
                continue
            }
            try Console.print(
                VisibleText.escape("store \(name): \(status.usedKeyCount.keys), \(status.usedByteCount) bytes"))
        }
    }
}
