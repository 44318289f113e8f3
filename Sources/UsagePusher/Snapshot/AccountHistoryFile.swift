import Essentials
package import LocalFiles

/// The file that remembers which accounts have been logged in to the tools, mode 0600.
package struct AccountHistoryFile: Sendable {
    private static let byteLimit = 1_048_576
    private let file: LocalFile

    /// `accounts.json` in the state directory.
    package init(_ environment: SourceEnvironment) {
        file = LocalFile(environment.stateDirectory + "/accounts.json")
    }

    /// An unreadable file counts as empty: accounts are then remembered from now on.
    package func read() -> AccountHistory {
        // See above, for both.
        guard let content = try? file.read(byteLimit: Self.byteLimit) else { return AccountHistory() }
        // A damaged one is written again.
        return (try? JSONDecoder().decode(AccountHistory.self, from: content.data)) ?? AccountHistory()
    }

    package func write(_ accounts: AccountHistory) throws(FileError) {
        // Fails only for numbers that JSON cannot write.
        guard let data = try? JSONEncoder().encode(accounts) else {
            preconditionFailure("a history contains only finite numbers")
        }
        try file.directory.create()
        try file.replace(with: data, durability: .cached)
    }
}
