package import Essentials

/// What a machine that warns leaves for the others, under a key of its own.
///
/// One JSON object: `v` 1, `watches`, `beat` and `told`, a list of marks. Readers ignore what they do not know.
package struct AlertNotice: Sendable, Equatable, Codable {
    /// False when the machine has stopped warning.
    package var watches: Bool
    /// Different for each notice; says nothing else, because clocks differ.
    package var beat: Int
    /// Of the latest alerts that it has delivered, oldest first.
    package var told: [AlertMark]

    package static let markLimit = 64
    static let byteLimit = 65_536
    /// Of all keys that alerts depend on.
    package static let sharedPrefix = "com.codexbar.usage."
    package static let keyPrefix = sharedPrefix + "alerts."

    package init(watches: Bool, beat: Int, told: [AlertMark]) {
        self.watches = watches
        self.beat = beat
        self.told = told
    }

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
        guard data.count <= byteLimit else { return nil }
        return try? JSONDecoder().decode(AlertNotice.self, from: data)
    }

    package var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(self) else {
            preconditionFailure("whole numbers and text are JSON")
        }
        return data
    }

    private enum CodingKeys: CodingKey { case v, watches, beat, told }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        watches = try fields.decode(Bool.self, forKey: .watches)
        beat = try fields.decode(Int.self, forKey: .beat)
        told = Array(try fields.decode([AlertMark].self, forKey: .told).suffix(Self.markLimit))
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(1, forKey: .v)
        try fields.encode(watches, forKey: .watches)
        try fields.encode(beat, forKey: .beat)
        try fields.encode(told, forKey: .told)
    }
}
