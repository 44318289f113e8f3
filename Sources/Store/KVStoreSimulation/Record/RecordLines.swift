/// The first line of a record. One with the same seed and the same inputs is the same, byte for byte.
package struct RecordStart: Codable, Sendable, Equatable {
    /// The version of the format.
    package static let version = 1

    package var version = Self.version
    package var seed: UInt64
    /// Whether it begins in strict mode.
    package var strict: Bool
    /// What was recorded; nil for an emulator.
    package var source: String?

    /// In the record of a simulated cloud.
    package static let simulatedCloud = "SimulatedCloud"

    package init(seed: UInt64, strict: Bool, source: String? = nil) {
        self.seed = seed
        self.strict = strict
        self.source = source
    }

    /// Why what follows cannot be read; nil if it can.
    package var defect: String? {
        version == Self.version ? nil : "the format has version \(version), and not \(Self.version)"
    }
}

/// A line with an event, as streams of events have it.
package struct RecordedEvent: Encodable {
    private let document: EventDocument
    private let id: UInt64

    /// - Parameter id: from 1, without gaps.
    package init(_ document: EventDocument, id: UInt64) {
        self.document = document
        self.id = id
    }

    private enum CodingKeys: CodingKey { case event }
    private enum EventKeys: CodingKey { case event, id }

    package func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: CodingKeys.self)
        let nested = line.superEncoder(forKey: .event)
        try document.encode(to: nested)
        var container = nested.container(keyedBy: EventKeys.self)
        try container.encode(document.event, forKey: .event)
        try container.encode(id, forKey: .id)
    }
}
