package import Essentials

/// What a machine that warns publishes for the others, under a key of its own.
///
/// One JSON object: `v` 1, `watches`, `beat` for the heartbeat, and `told`, the marks of delivered alerts. Readers
/// ignore unknown members.
package struct AlertNotice: Sendable, Equatable {
    /// False when the machine has stopped warning.
    package var watches: Bool
    /// Different for each notice; says nothing else, because clocks differ.
    package var heartbeat: Int
    /// The marks of the latest alerts that it has delivered, oldest first.
    package var delivered: [AlertMark]

    package static let markLimit = 64
    static let byteLimit = 65_536
    /// What all keys begin with that alerts depend on.
    package static let sharedPrefix = "com.codexbar.usage."
    package static let keyPrefix = sharedPrefix + "alerts."

    package static func storeKey(deviceID: String) -> String { keyPrefix + deviceID }

    /// The device of a key; nil for other keys.
    package static func deviceID(ofKey key: String) -> String? {
        guard key.hasPrefix(keyPrefix) else { return nil }
        return String(key.dropFirst(keyPrefix.count)).lowercased()
    }

    /// Those among the values of a store, by device id.
    package static func notices(in values: [String: Data]) -> [String: AlertNotice] {
        var notices: [String: AlertNotice] = [:]
        for (key, data) in values {
            guard let id = deviceID(ofKey: key) else { continue }
            notices[id] = read(data)
        }
        return notices
    }

    /// Nil for anything but a notice.
    package static func read(_ data: Data) -> AlertNotice? {
        StoredJSON.decode(AlertNotice.self, from: data, byteLimit: byteLimit)
    }

    package var data: Data { StoredJSON.data(of: self) }
}

extension AlertNotice: Codable {
    private enum CodingKeys: String, CodingKey {
        case v, watches
        case heartbeat = "beat"
        case delivered = "told"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        watches = try fields.decode(Bool.self, forKey: .watches)
        heartbeat = try fields.decode(Int.self, forKey: .heartbeat)
        delivered = Array(try fields.decode([AlertMark].self, forKey: .delivered).suffix(Self.markLimit))
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(1, forKey: .v)
        try fields.encode(watches, forKey: .watches)
        try fields.encode(heartbeat, forKey: .heartbeat)
        try fields.encode(delivered, forKey: .delivered)
    }
}
