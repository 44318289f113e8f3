import Essentials
import OutgoingHTTP
import LocalFiles
import UsageState

/// What targets need and nobody else may know.
struct AlertSecrets: Sendable, Equatable, Codable {
    enum Name: String, Sendable, CaseIterable, Codable {
        case ntfyTopic = "ntfy-topic"
        case ntfyToken = "ntfy-token"
        case webhookURL = "webhook-url"
        /// Lines of "Name: value".
        case webhookHeaders = "webhook-headers"
    }

    private var values: [String: String] = [:]

    init() {}

    subscript(name: Name) -> String? {
        get { values[name.rawValue] }
        set { values[name.rawValue] = newValue }
    }

    init(from decoder: any Decoder) throws { values = try decoder.singleValueContainer().decode([String: String].self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }

    /// Why a value is invalid; nil if it is valid.
    static func issue(_ value: String, of name: Name) -> String? {
        switch name {
        case .ntfyTopic:
            return value.wholeMatch(of: /[A-Za-z0-9_\-]{1,64}/) != nil
                ? nil : "a topic has 1 to 64 letters, digits, '_' and '-'"
        case .ntfyToken:
            return value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                ? nil : "a token has no spaces and only ASCII characters"
        case .webhookURL:
            return HTTPAddress(value) != nil ? nil : "it is not an address that begins with https:// or http://"
        case .webhookHeaders:
            return headers(in: value) == nil ? "each line must be 'Name: value', in ASCII" : nil
        }
    }

    /// Nil if a line is no header.
    static func headers(in text: String) -> [(name: String, value: String)]? {
        var headers: [(name: String, value: String)] = []
        for line in text.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let (name, value) = (line[..<colon], line[line.index(after: colon)...])
            guard name.wholeMatch(of: /[A-Za-z0-9!#$%&'*+.^_`|~\-]{1,64}/) != nil,
                value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else { return nil }
            headers.append((String(name), value.trimmingPrefix(while: { $0 == " " }).description))
        }
        return headers.count <= 32 ? headers : nil
    }

    /// The text without any secret, for what others have said.
    func masked(_ text: String) -> String {
        var parts: [String] = []
        for (name, value) in values {
            switch Name(rawValue: name) {
            case .webhookHeaders: parts += (Self.headers(in: value) ?? []).map(\.value)
            case .webhookURL:
                parts.append(value)
                if let address = HTTPAddress(value) { parts += address.secretParts }
            default: parts.append(value)
            }
        }
        return parts.filter { $0.utf8.count >= 4 }.sorted { $0.utf8.count > $1.utf8.count }
            .reduce(text) { $0.replacing($1, with: "[hidden]") }
    }
}

/// `alert-secrets.json` in the configuration directory: an object of texts by name, mode 0600.
struct AlertSecretsFile: Sendable {
    private let file: LocalFile
    private static let byteLimit = 65_536

    init(_ directories: UserDirectories = UserDirectories()) {
        file = LocalFile(directories.config + "/alert-secrets.json")
    }

    var path: String { file.path }

    /// To be held from a read to the write that depends on it. Blocks until no other process holds it.
    func lock() throws(FileError) -> FileLock { try file.lock() }

    /// Empty without a file.
    ///
    /// - Throws: `invalid` for a file that others can read.
    func read() throws(FileError) -> AlertSecrets {
        guard let content = try file.read(byteLimit: Self.byteLimit) else { return AlertSecrets() }
        let mode = content.status.permissions
        guard mode & 0o077 == 0 else {
            throw invalid(
                "the file has mode \(String(mode, radix: 8)), so other users may read the secrets in it; "
                    + "run chmod 600 \(path)")
        }
        // The reason would quote a secret.
        guard let secrets = try? JSONDecoder().decode(AlertSecrets.self, from: content.data) else {
            throw invalid("not a JSON object of texts; remove it and set the secrets again")
        }
        return secrets
    }

    func write(_ secrets: AlertSecrets) throws(FileError) {
        let data = JSONEncoder.sorted(isIndented: true).data(of: secrets)
        try file.directory.create()
        try file.resolvingLinks().replace(with: data + Data("\n".utf8))
    }

    private func invalid(_ reason: String) -> FileError {
        FileError(operation: "read", path: path, cause: .invalid(reason))
    }
}
