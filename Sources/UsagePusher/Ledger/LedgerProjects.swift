import Essentials
package import LocalFiles

/// What stands for the projects of this machine in the ledger: the same on every machine that has a clone of the same
/// repository.
///
/// A project is the repository that its directory is in: the address of its remote, without what differs between the
/// ways to reach it. A directory that is in none, or of which the repository has no remote, is the same project where
/// it has the same path below the home directory. A directory that is gone, such as a worktree, stays what it was. Of
/// the address and the path only 48 bits of a hash leave the machine, unless the user wants the names: who knows a name
/// can tell whether it is the one.
package struct LedgerProjects: Sendable {
    /// What of projects leaves the machine.
    package enum Disclosure: String, Sendable, Codable, CaseIterable {
        case hashed
        /// Names too, which only devices with the account's content key can read.
        case sealed
        case named, none
    }

    /// What the keys of sealed names begin with; the rest is the device's id.
    package static let sealedPrefix = "projects."

    private let home: String
    private let disclosure: Disclosure
    private let known: [String: String]
    private var keys: [String: String?] = [:]
    /// The names of projects by their keys, and the keys of directories that are there.
    package private(set) var found: [String: String] = [:]

    private static let nameLimit = 120
    private static let configurationByteLimit = 262_144

    /// - Parameter known: what was `found` before.
    package init(home: String, disclosure: Disclosure, known: [String: String] = [:]) {
        self.home = home
        self.disclosure = disclosure
        self.known = known
    }

    /// "1f3a9c20b5de", or "1f3a9c20b5de owner/app" when it is named; nil when the project is not known, or not
    /// published.
    mutating func key(of session: TokenSession) -> String? {
        guard disclosure != .none, let project = session.project else { return nil }
        if let key = keys[project] { return key }
        let (identity, name, isThere) = identify(project)
        var hash = Self.hex(SessionDay.hash(ContentHash.of("project", identity)))
        var short = Self.shown(name) ?? hash
        if isThere {
            found[project] = hash
        } else if let former = known[project] {
            hash = former
            short = known[hash] ?? hash
        }
        found[hash] = short
        let key = disclosure == .named ? hash + " " + short : hash
        keys[project] = key
        return key
    }

    /// What stands for a project that a report names, as `key(of:)` does.
    ///
    /// - Parameter known: names of this machine's projects by their keys: this product's reports state names.
    package mutating func key(ofReported name: String, _ known: [String: String]) -> String? {
        guard disclosure != .none else { return nil }
        let keys = known.filter { $0.value == name }.keys
        if keys.count == 1, let hash = keys.first { return disclosure == .named ? hash + " " + name : hash }
        return key(of: TokenSession(id: "", project: name, source: ""))
    }

    /// A name within its bounds; nil for none.
    package static func shown(_ name: String) -> String? { name.displayText(limit: nameLimit) }

    /// The key of the project that a directory belongs to, without a name.
    package static func hash(ofDirectory path: String, home: String) -> String {
        let projects = LedgerProjects(home: home, disclosure: .hashed)
        return hex(SessionDay.hash(ContentHash.of("project", projects.identify(path).identity)))
    }

    /// What of a key is the same on every machine.
    package static func hash(ofKey key: String) -> String { String(key.prefix { $0 != " " }) }

    static func hex(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    private func identify(_ project: String) -> (identity: String, name: String, isThere: Bool) {
        let path = project.hasPrefix("/") ? project : project.hasPrefix("-") ? directory(encoded: project) : nil
        guard let path else { return ("name:" + project, project, false) }
        let isThere = FileStatus.visible(at: path)?.kind == .directory
        if let remote = Self.remote(ofRepositoryAt: path) {
            return ("git:" + remote, remote.split(separator: "/").suffix(2).joined(separator: "/"), isThere)
        }
        let short = path == home ? "~" : path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
        return ("path:" + short, short, isThere)
    }

    /// The directory that Claude Code names "-home-me-my-app", if it is still there: each character that is no letter
    /// or digit is a hyphen.
    private func directory(encoded name: String) -> String? {
        var budget = 256
        func find(_ path: String, _ rest: Substring) -> String? {
            guard !rest.isEmpty else { return path }
            budget -= 1
            guard budget > 0 else { return nil }
            // What cannot be listed has none.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path.isEmpty ? "/" : path)) ?? []
            for name in names.sorted() {
                let encoded = "-" + name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "-" }.joined()
                guard rest.hasPrefix(encoded) else { continue }
                let after = rest.dropFirst(encoded.count)
                if after.isEmpty { return path + "/" + name }
                if after.first == "-", let found = find(path + "/" + name, after) { return found }
            }
            return nil
        }
        return find("", Substring(name))
    }

    /// "host/owner/name" of the remote of the repository that a directory is in, or a worktree of it; nil without one.
    static func remote(ofRepositoryAt path: String) -> String? {
        var directory = path
        for _ in 0..<64 where !directory.isEmpty {
            let git = directory + "/.git"
            switch FileStatus.visible(at: git)?.kind {
            case .directory: return remote(inConfigurationOf: git)
            case .file:
                guard let text = text(git), text.hasPrefix("gitdir: ") else { return nil }
                let link = absolute(String(text.dropFirst("gitdir: ".count)).trimmed, in: directory)
                let common = Self.text(link + "/commondir").map { absolute($0.trimmed, in: link) }
                return remote(inConfigurationOf: common ?? link)
            default: directory = String(directory[..<(directory.lastIndex(of: "/") ?? directory.startIndex)])
            }
        }
        return nil
    }

    private static func absolute(_ path: String, in directory: String) -> String {
        path.hasPrefix("/") ? path : directory + "/" + path
    }

    private static func text(_ path: String) -> String? {
        // What cannot be read has no remote.
        guard let data = try? LocalFile(path).read(byteLimit: configurationByteLimit)?.data else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// That of "origin", else the first.
    private static func remote(inConfigurationOf git: String) -> String? {
        guard let text = text(git + "/config") else { return nil }
        var section = ""
        var first: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = String(line).trimmed
            if line.hasPrefix("[") {
                section = line
            } else if section.hasPrefix("[remote "), let equals = line.firstIndex(of: "="),
                String(line[..<equals]).trimmed == "url",
                let address = normalized(String(line[line.index(after: equals)...]).trimmed)
            {
                if section == "[remote \"origin\"]" { return address }
                first = first ?? address
            }
        }
        return first
    }

    /// "github.com/owner/name" of "git@github.com:owner/name.git", "https://user:token@github.com/owner/name/" and
    /// others; without whatever could be a secret.
    static func normalized(_ address: String) -> String? {
        var rest = Substring(address)
        if let scheme = rest.firstRange(of: "://") {
            rest = rest[scheme.upperBound...]
        } else if let colon = rest.firstIndex(of: ":"), !rest[..<colon].contains("/") {
            rest = rest[..<colon] + "/" + rest[rest.index(after: colon)...]
        }
        rest = rest.prefix { $0 != "?" && $0 != "#" }
        var parts = rest.split(separator: "/").map(String.init)
        guard parts.count > 1, var host = parts.first else { return nil }
        if let at = host.lastIndex(of: "@") { host = String(host[host.index(after: at)...]) }
        parts[0] = String(host.prefix { $0 != ":" }).lowercased()
        if parts[parts.count - 1].hasSuffix(".git") { parts[parts.count - 1].removeLast(".git".count) }
        return parts.joined(separator: "/")
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}

/// What `LedgerProjects` has found on this machine: `ledger-projects.json` in the state directory, 0600.
package struct LedgerProjectsFile: Sendable {
    private let file: LocalFile
    private static let byteLimit = 4 * 1_048_576
    private static let countLimit = 16_384

    /// That of the user.
    package static var own: LedgerProjectsFile {
        LedgerProjectsFile(
            SourceEnvironment(home: UserDirectories().home, variables: ProcessInfo.processInfo.environment))
    }

    package init(_ environment: SourceEnvironment) {
        file = LocalFile(environment.stateDirectory + "/ledger-projects.json")
    }

    /// None when they cannot be read.
    package func read() -> [String: String] {
        guard let data = try? file.read(byteLimit: Self.byteLimit)?.data else { return [:] }  // As described.
        return (try? JSONDecoder().decode([String: String].self, from: data)) ?? [:]  // As described.
    }

    /// Adds what is new.
    package func add(_ found: [String: String]) throws(FileError) {
        let known = read()
        let merged = known.merging(found) { $1 }
        guard merged != known, merged.count <= Self.countLimit else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(merged) else { return }  // Texts can be encoded.
        try file.directory.create()
        try file.replace(with: data)
    }
}
