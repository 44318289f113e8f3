import Essentials
package import LocalFiles

/// Whether this machine's past usage is shared, and what of its projects: the member `ledger` of `usage-push.json`.
package struct LedgerSettings: Sendable, Hashable, Codable {
    package var isOff = false
    package var projects = LedgerProjects.Disclosure.hashed

    package init() {}

    private static let member = "ledger"

    /// The usual ones where nothing, or nothing usable, is written.
    package static func read(_ file: PusherConfigurationFile = PusherConfigurationFile()) -> LedgerSettings {
        // The command that writes them says what is wrong with the file.
        guard let data = try? file.section(member) else { return LedgerSettings() }
        return (try? JSONDecoder().decode(LedgerSettings.self, from: data)) ?? LedgerSettings()  // As described.
    }

    package func write(_ file: PusherConfigurationFile) throws(FileError) { try file.setSection(Self.member, to: self) }
}
