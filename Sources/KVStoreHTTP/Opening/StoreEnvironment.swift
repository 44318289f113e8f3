public import Foundation
import KVStore

/// Where this user's files are: the environment variables that decide it.
public struct StoreEnvironment: Sendable, Equatable {
    public var variables: [String: String]

    public init(variables: [String: String] = ProcessInfo.processInfo.environment) {
        self.variables = variables
    }

    /// Variables as given, with the user's folder replaced.
    public init(home: String, variables: [String: String] = [:]) {
        self.variables = variables
        self.variables["HOME"] = home
    }

    /// `UBIQUITY_DATA_DIR`, else `ubiquity` in `XDG_DATA_HOME`, else `~/.local/share/ubiquity`.
    public var dataDirectory: String { StoreDirectories.data(environment: variables) }

    /// `UBIQUITY_CONFIG_DIR`, else `ubiquity` in `XDG_CONFIG_HOME`, else `~/.config/ubiquity`.
    public var configDirectory: String {
        if let directory = absolute("UBIQUITY_CONFIG_DIR") { return directory }
        let home = absolute("HOME") ?? NSHomeDirectory()
        return (absolute("XDG_CONFIG_HOME") ?? home + "/.config") + "/ubiquity"
    }

    public var credentialsFile: CredentialsFile {
        CredentialsFile(path: configDirectory + "/credentials.json")
    }

    /// The replica of a store: of the account, or the local one for nil.
    public func replicaDirectory(storeNamed name: String, credentials: Credentials?) -> String {
        StoreDirectories.replica(
            account: credentials.map(AccountFolder.name), storeName: name, environment: variables)
    }

    /// The XDG rules ignore paths that are not absolute.
    private func absolute(_ name: String) -> String? {
        guard let path = variables[name], path.hasPrefix("/") else { return nil }
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}
