package import Essentials
package import LocalFiles

/// What a user has configured for `usage-push`.
package struct PusherConfiguration: Sendable, Equatable {
    /// Absolute paths of further homes of the tools, by provider id, in the user's order.
    package private(set) var homes: [String: [String]] = [:]

    /// By name.
    package private(set) var plugins: [String: EnabledPlugin] = [:]

    /// By provider id.
    package private(set) var asking: [String: AskSettings] = [:]

    private static let homeLimit = 32

    package init() {}

    /// Enables a plug-in, or disables it with nil. Returns false when that changes nothing.
    package mutating func setPlugin(_ name: String, _ plugin: EnabledPlugin?) -> Bool {
        guard plugins[name] != plugin else { return false }
        plugins[name] = plugin
        return true
    }

    /// Lets a tool be asked itself, or no longer with nil.
    package mutating func setAsking(_ id: String, _ settings: AskSettings?) { asking[id] = settings }

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
    fileprivate mutating func readPlugins(_ json: Data?, issues: inout [String]) {
        guard let json else { return }
        guard let members = Stated([String: Stated<EnabledPlugin>].self, in: json).value else {
            issues.append("plugins is not an object")
            return
        }
        for (name, plugin) in members.sorted(by: { $0.key < $1.key }) {
            if PluginFile.isName(name), plugins.count < PluginFile.countLimit, let plugin = plugin.value {
                plugins[name] = plugin
            } else {
                issues.append("plugins.\(name) cannot be used; run usage-push config enable-plugin again")
            }
        }
    }

    /// Reads the value of `ask`. What cannot be used is left out and described.
    fileprivate mutating func readAsking(_ json: Data?, issues: inout [String]) {
        guard let json else { return }
        let members = Stated([String: Stated<AskSettings>].self, in: json).value
        if members == nil { issues.append("ask is not an object") }
        for (id, settings) in (members ?? [:]).sorted(by: { $0.key < $1.key }) {
            asking[id] = id == CodexAsking.id ? settings.value : nil
            if asking[id] == nil { issues.append("ask.\(id) cannot be used; run usage-push config ask again") }
        }
    }

    /// Reads the value of `homes`. What is not a list of absolute paths is left out and described.
    fileprivate init(homes json: Data?, home: String, issues: inout [String]) {
        guard let json else { return }
        guard let lists = Stated([String: Stated<[Stated<String>]>].self, in: json).value else {
            issues.append("homes is not an object")
            return
        }
        let environment = SourceEnvironment(home: home)
        for (id, paths) in lists.sorted(by: { $0.key < $1.key }) {
            if paths.value == nil { issues.append("homes.\(id) is not a list") }
            for path in (paths.value ?? []).prefix(Self.homeLimit) {
                if let path = path.value.flatMap({ environment.absolutePath($0) }) {
                    _ = add(ToolHome(providerID: id, path: path))
                } else {
                    issues.append("homes.\(id) contains a value that is not an absolute path")
                }
            }
        }
    }
}

/// A value that a user may have written; nil when it is of another type.
private struct Stated<Value: Decodable>: Decodable {
    let value: Value?

    init(_ type: Value.Type, in json: Data) {
        value = try? JSONDecoder().decode(type, from: json)  // As described.
    }

    init(from decoder: any Decoder) throws {
        value = try? Value(from: decoder)  // As described.
    }
}

/// `usage-push.json` in the user's configuration directory, mode 0600:
///
///     {"homes": {"claude": ["/home/user/.claude-work"], "codex": []},
///      "plugins": {"codexbar": {"owner": 1000, "permissions": 493, "timeout": 10, "interval": 300}},
///      "ask": {"codex": {"every": 600, "whenOlder": 900, "program": "/usr/bin/codex"}},
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
        configuration.readAsking(members["ask"], issues: &issues)
        return (configuration, issues.map { "\(path): \($0)" })
    }

    /// Replaces the homes, the plug-ins and what is asked; the text of other members stays.
    package func write(_ configuration: PusherConfiguration) throws(FileError) {
        var members = try members()
        members["homes"] = Self.json(configuration.homes)
        members["plugins"] = configuration.plugins.isEmpty ? nil : Self.json(configuration.plugins)
        members["ask"] = configuration.asking.isEmpty ? nil : Self.json(configuration.asking)
        try write(members)
    }

    /// Reads a member that another part of the program owns, as JSON; nil without one.
    package func section(_ name: String) throws(FileError) -> Data? { try members()[name] }

    /// Replaces such a member, or removes it with nil; the text of other members stays.
    package func setSection(_ name: String, to value: (some Encodable)?) throws(FileError) {
        var members = try members()
        members[name] = value.map { Self.json($0) }
        try write(members)
    }

    /// The text of a member, indented as a part of the file.
    private static func json(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Data(String(decoding: encoder.data(of: value), as: UTF8.self).replacing("\n", with: "\n  ").utf8)
    }

    private func write(_ members: [String: Data]) throws(FileError) {
        let lines = members.sorted { $0.key < $1.key }.map { name, json in
            "  \"\(String(decoding: WrittenString(escaping: name).written, as: UTF8.self))\" : "
                + String(decoding: json, as: UTF8.self)
        }
        let text = lines.isEmpty ? "{}\n" : "{\n" + lines.joined(separator: ",\n") + "\n}\n"
        try file.directory.create()
        try file.resolvingLinks().replace(with: Data(text.utf8))
    }

    /// The members with their values as they are written.
    private func members() throws(FileError) -> [String: Data] {
        guard let data = try file.read(byteLimit: Self.byteLimit)?.data else { return [:] }
        let outline: JSONOutline
        do throws(JSONDocumentError) {
            outline = try JSONOutline(Array(data))
        } catch {
            throw invalid(error.description)
        }
        guard let stated = outline.root.members else { throw invalid("not a JSON object") }
        var members: [String: Data] = [:]
        for member in stated {
            guard let name = outline.text(member.name) else {
                throw invalid(outline.error("a name is not Unicode text", at: member.name).description)
            }
            members[name] = Data(outline.bytes[member.value.range])
        }
        return members
    }

    private func invalid(_ reason: String) -> FileError {
        FileError(operation: "read", path: path, cause: .invalid("\(reason); fix it, or remove it to start over"))
    }
}
