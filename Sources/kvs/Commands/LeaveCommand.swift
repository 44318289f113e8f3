import ArgumentParser
import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import TerminalText

struct LeaveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "Forgets the account and its token on this machine.",
        discussion: """
            The account's values stay on disk, apart, and come back when you join it again. The token stays \
            valid until it is revoked where kvsd runs.
            """)

    func run() throws {
        let environment = StoreEnvironment()
        guard environment.isJoined else {
            throw CommandFailure(.configuration, "no account has been joined")
        }
        // A file that cannot be read can be left too.
        let credentials = try? environment.credentials()
        let waiting = credentials.map { pendingKeyCount(environment, $0) } ?? 0
        do {
            try environment.credentialsFile.remove()
        } catch {
            throw CommandFailure(.ioError, error.description)
        }
        guard let credentials else {
            return try Console.print("left; the credentials could not be read")
        }
        try Console.print(VisibleText.escape("left: this machine was \(credentials)"))
        let directory = environment.accountDirectory(credentials)
        try Console.print(VisibleText.escape("the account's values stay in \(directory)"))
        if waiting > 0 {
            Console.report("\(waiting) keys of it were never sent; join again to send them")
        }
    }

    private func pendingKeyCount(
        _ environment: StoreEnvironment, _ credentials: Credentials
    ) -> Int {
        let directory = environment.accountDirectory(credentials)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter(StoreConfiguration.isValidStoreName).reduce(0) { sum, name in
            let configuration = try? environment.configuration(
                storeNamed: name, isLive: false, isOnline: false)
            guard let configuration,
                let store = try? UbiquitousKeyValueStore(configuration: configuration)
            else { return sum }
            defer { store.close() }
            return sum + store.status.pendingKeyCount
        }
    }
}
