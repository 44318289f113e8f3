package import Foundation
package import LocalFiles

/// What a user has configured for `usage-push`.
package struct PusherConfiguration: Sendable, Equatable {
    /// Absolute paths of further homes of the tools, by provider id, in the user's order.
    package private(set) var homes: [String: [String]] = [:]

    /// By name.
    package private(set) var plugins: [String: EnabledPlugin] = [:]

    private static let homeLimit = 32

    package init() {}

    /// Enables a plug-in, or disables it with nil. Returns false when that changes nothing.
    package mutating func setPlugin(_ name: String, _ plugin: EnabledPlugin?) -> Bool {
        guard plugins[name] != plugin else { return false }
        plugins[name] = plugin
        return true
    }

    package func additionalHomes(for providerID: String) -> [String] { homes[providerID] ?? [] }

    /// Returns false when the home is there already.
    package mutating func add(_ home: ToolHome) -> Bool {
        guard !additionalHomes(for: home.providerID).contains(home.path) else { return false }
        homes[home.providerID, default: []].append(home.path)
        return true
    }

    /// Returns false when there is no such home.
    package mutating func remove(_ home: ToolHome) -> Bool {
        guard additionalHomes(for: home.providerID).contains(home.path) else { return false }
        homes[home.providerID]?.removeAll { $0 == home.path }
        if homes[home.providerID]?.isEmpty == true { homes[home.providerID] = nil }
        return true
    }

    /// Reads the value of `plugins`. What cannot be used is left out and described.
    fileprivate mutating func readPlugins(_ value: Any?, issues: inout [String]) {
        guard let value else { return }
        guard let members = value as? [String: Any] else {
            issues.append("plugins is not an object")
            return
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            if PluginFile.isName(name), plugins.count < PluginFile.countLimit,
                let plugin = (value as? [String: Any]).flatMap(EnabledPlugin.init(members:))
            {
                plugins[name] = plugin
            } else {
                issues.append("plugins.\(name) cannot be used; run usage-push config enable-plugin again")
            }
        }
    }

    /// Reads the value of `homes`. What is not a list of absolute paths is left out and described.
    fileprivate init(homes value: Any?, home: String, issues: inout [String]) {
        guard let value else { return }
        guard let lists = value as? [String: Any] else {
            issues.append("homes is not an object")
            return
        }
        let environment = SourceEnvironment(home: home)
        for (id, value) in lists.sorted(by: { $0.key < $1.key }) {
            let paths = value as? [Any]
            if paths == nil { issues.append("homes.\(id) is not a list") }
            for path in (paths ?? []).prefix(Self.homeLimit) {
                if let path = (path as? String).flatMap({ environment.absolutePath($0) }) {
                    _ = add(ToolHome(providerID: id, path: path))
                } else {
                    issues.append("homes.\(id) contains a value that is not an absolute path")
                }
            }
        }
    }
}

/// `usage-push.json` in the user's configuration directory, mode 0600:
///
///     {"homes": {"claude": ["/home/user/.claude-work"], "codex": []},
///      "plugins": {"codexbar": {"owner": 1000, "permissions": 493, "timeout": 10, "interval": 300}},
///      "alerts": {"desktop": true, "quiet": "22:00-07:30"}}
///
/// Unknown members are ignored and kept.
package struct PusherConfigurationFile: Sendable {
    private static let byteLimit = 1_048_576
    private let file: LocalFile
    private let home: String

    package init(_ directories: UserDirectories = UserDirectories()) {
        file = LocalFile(directories.config + "/usage-push.json")
        home = directories.home
    }

    package var path: String { file.path }

    /// To be held from a read to the write that depends on it. Blocks until no other process holds it.
    package func lock() throws(FileError) -> FileLock { try file.lock() }

    /// Reads the file; a missing one is empty. What could not be used is in `issues`. `invalid` if it is not a JSON
    /// object.
    package func read() throws(FileError) -> (configuration: PusherConfiguration, issues: [String]) {
        var issues: [String] = []
        let members = try members()
        var configuration = PusherConfiguration(homes: members["homes"], home: home, issues: &issues)
        configuration.readPlugins(members["plugins"], issues: &issues)
        return (configuration, issues.map { "\(path): \($0)" })
    }

    /// Replaces the homes and the plug-ins; other members stay.
    package func write(_ configuration: PusherConfiguration) throws(FileError) {
        var members = try members()
        members["homes"] = configuration.homes
        let plugins = configuration.plugins.mapValues(\.members)
        members["plugins"] = plugins.isEmpty ? nil : plugins
        try write(members)
    }

    /// Reads a member that another part of the program owns, as JSON; nil without one.
    package func section(_ name: String) throws(FileError) -> Data? {
        guard let value = try members()[name] else { return nil }
        // It was decoded from JSON.
        return try? JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
    }

    /// Replaces such a member, or removes it with nil; other members stay.
    package func setSection(_ name: String, to json: Data?) throws(FileError) {
        var members = try members()
        // The owner has encoded it.
        members[name] = json.flatMap { try? JSONSerialization.jsonObject(with: $0) }
        try write(members)
    }

    private func write(_ members: [String: Any]) throws(FileError) {
        // Fails only for what is not JSON.
        guard
            let text = try? JSONSerialization.data(
                withJSONObject: members,
                options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        else { preconditionFailure("members are JSON values") }
        try file.directory.create()
        try file.resolvingLinks().replace(with: text + Data("\n".utf8))
    }

    private func members() throws(FileError) -> [String: Any] {
        guard let data = try file.read(byteLimit: Self.byteLimit)?.data else { return [:] }
        do throws(JSONDocumentError) {
            _ = try JSONOutline(Array(data))
        } catch {
            throw invalid(error.description)
        }
        // Why it is invalid has been said; what is left is another kind of value.
        guard let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw invalid("not a JSON object")
        }
        return members
    }

    private func invalid(_ reason: String) -> FileError {
        FileError(operation: "read", path: path, cause: .invalid("\(reason); fix it, or remove it to start over"))
    }
}
