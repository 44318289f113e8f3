import Essentials

/// The device that a snapshot is from.
///
/// For an example see `SnapshotBuilder`.
public struct DeviceIdentity: Sendable, Equatable {
    /// A random UUID in lower case; nil when the device has none yet.
    public var id: String?
    /// The name to show, 1 to 80 characters.
    public var name: String
    /// The id that the daemon gave it; nil when it has not joined.
    public var daemonID: String?

    public init(id: String?, name: String) {
        self.id = id
        self.name = SnapshotBounds.text(name, SnapshotBounds.nameLength) ?? "unnamed device"
    }

    /// The id in the text of an identity file; nil when there is none.
    static func id(in text: String) -> String? {
        let trimmed = text.trimmed()
        guard trimmed.utf8.count == 36 else { return nil }
        return UUID(uuidString: trimmed)?.uuidString.lowercased()
    }

    /// The value of PRETTY_HOSTNAME in the text of `/etc/machine-info`: lines of NAME=value; the
    /// value may be quoted as in a shell.
    static func prettyHostname(in text: String) -> String? {
        for line in text.split(separator: "\n") {
            let line = line.trimmed()
            guard line.hasPrefix("PRETTY_HOSTNAME=") else { continue }
            let value = unquoted(line.dropFirst("PRETTY_HOSTNAME=".count))
            if !value.isEmpty { return value }
        }
        return nil
    }

    private static func unquoted(_ value: Substring) -> String {
        guard let quote = value.first, quote == "\"" || quote == "'", value.count >= 2,
            value.last == quote
        else { return String(value) }
        let inner = value.dropFirst().dropLast()
        guard quote == "\"" else { return String(inner) }
        var result = ""
        var isEscaped = false
        for character in inner {
            isEscaped = character == "\\" && !isEscaped
            if !isEscaped { result.append(character) }
        }
        return result
    }
}
