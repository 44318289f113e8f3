import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import TerminalText

struct LeaveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "Leave the account and forget its token.",
        discussion: """
            The account's values stay on this machine, separate from local ones, and are back when you \
            join again. The token stays valid until it is revoked where kvsd runs, or here with --revoke, \
            which removes this device at the daemon first.
            """)

    @Flag(help: "Remove this device at the daemon too; reported if that fails.") var revoke = false
    @OptionGroup var timeout: TimeoutOption

    func run() async throws {
        let environment = StoreEnvironment()
        try environment.checkJoining("leave")
        guard environment.isJoined else {
            throw CommandFailure(.configuration, "cannot leave: no account has been joined")
        }
        // An unreadable file can still be removed.
        let credentials = try? environment.credentials()
        let pending = credentials.map { pendingKeyCount(environment, of: $0) } ?? 0
        if revoke, let credentials,
            let failure = await credentials.removeDevice(HTTPTimeouts(within: timeout.limit))
        {
            Console.report(
                VisibleText.escape(
                    "the device \(credentials.deviceName) is still valid; remove it where kvsd runs: "
                        + "kvsd device remove \(credentials.deviceID) (\(failure))"))
        }
        try environment.credentialsFile.remove()
        guard let credentials else { return try Console.print("left the account; its credentials could not be read") }
        try Console.print(VisibleText.escape("left as device \(credentials)"))
        let directory = environment.accountDirectory(credentials)
        try Console.print(VisibleText.escape("the account's values stay in \(directory)"))
        if pending > 0 {
            Console.report("never synced: \(pending.keys); join again to sync them")
        }
    }

    /// The pending keys of all stores of the account.
    private func pendingKeyCount(_ environment: StoreEnvironment, of credentials: Credentials) -> Int {
        let directory = environment.accountDirectory(credentials)
        // Without a directory nothing is pending.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter(StoreConfiguration.isValidStoreName).reduce(0) { sum, name in
            let configuration = environment.configuration(
                of: credentials, storeNamed: name, isLive: false, isOnline: false)
            // Its files stay as they are.
            guard let store = try? UbiquitousKeyValueStore(configuration: configuration) else { return sum }
            defer { store.close() }
            return sum + store.status.pendingKeyCount
        }
    }
}
