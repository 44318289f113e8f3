import Essentials
import LocalFiles

/// A program in `providers.d` that the user has enabled.
package struct EnabledPlugin: Sendable, Equatable {
    /// Who owned the file when it was enabled.
    package var owner: UInt32
    package var permissions: Int
    /// Seconds after which a run is stopped.
    package var timeout: Int
    /// Seconds from the end of a run to the next one.
    package var interval: Int

    package static let defaultTimeout = 10
    package static let defaultInterval = 300
    package static let timeouts = 1...60
    package static let intervals = 60...86_400

    init?(owner: UInt32, permissions: Int, timeout: Int, interval: Int) {
        guard Self.timeouts.contains(timeout), Self.intervals.contains(interval) else { return nil }
        self.owner = owner
        self.permissions = permissions
        self.timeout = timeout
        self.interval = interval
    }
}

extension EnabledPlugin: Codable {
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let plugin = EnabledPlugin(
            owner: try fields.decode(UInt32.self, forKey: .owner),
            permissions: try fields.decode(Int.self, forKey: .permissions),
            timeout: try fields.decodeIfPresent(Int.self, forKey: .timeout) ?? Self.defaultTimeout,
            interval: try fields.decodeIfPresent(Int.self, forKey: .interval) ?? Self.defaultInterval)
        guard let plugin else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "its timeout or interval is out of range"))
        }
        self = plugin
    }
}

/// A program in `providers.d`, by its name there.
package struct PluginFile: Sendable {
    package let path: String
    private let name: String
    private let directory: String

    package static let countLimit = 16

    package init(_ name: String, in environment: SourceEnvironment) {
        self.name = name
        directory = Self.directory(environment)
        path = directory + "/" + name
    }

    static func directory(_ environment: SourceEnvironment) -> String {
        environment.configurationDirectory + "/providers.d"
    }

    /// Documents end in ".json".
    package static func isName(_ name: String) -> Bool {
        name.utf8.count <= 64 && !name.hasSuffix(".json") && name.wholeMatch(of: /[A-Za-z0-9_][A-Za-z0-9._-]*/) != nil
    }

    /// As it is to be enabled.
    ///
    /// - Throws: why it must not run.
    package func enabled(timeout: Int, interval: Int) throws(TrustedProgram.Refusal) -> EnabledPlugin {
        let status = try checked()
        guard
            let plugin = EnabledPlugin(
                owner: status.owner, permissions: status.permissions, timeout: timeout, interval: interval)
        else { throw TrustedProgram.Refusal("its timeout or interval is out of range") }
        return plugin
    }

    /// Throws unless the file may run and is the user's own choice: nobody but the user and the superuser can have
    /// written it.
    func check(_ plugin: EnabledPlugin) throws(TrustedProgram.Refusal) {
        let status = try checked()
        guard status.owner == plugin.owner, status.permissions == plugin.permissions else {
            throw TrustedProgram.Refusal("its owner or mode has changed; run usage-push config enable-plugin \(name)")
        }
    }

    private func checked() throws(TrustedProgram.Refusal) -> FileStatus {
        try TrustedProgram.checkDirectories(of: path)
        let status = try TrustedProgram.status(of: path, kind: .file, followsLinks: false)
        guard status.permissions & 0o111 != 0 else {
            throw TrustedProgram.Refusal("it is not executable; run chmod u+x \(path)")
        }
        return status
    }
}
