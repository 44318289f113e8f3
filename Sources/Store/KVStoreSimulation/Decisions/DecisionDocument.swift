/// A decision as JSON. Fields are added, never renamed or removed.
package struct DecisionDocument: Encodable, Sendable {
    private let decision: Decision<KeptVersion>
    private let text: String
    private let time: Int64?
    private let device: String?

    /// - Parameters:
    ///   - text: the decision as a sentence.
    ///   - time: milliseconds since 1970; nil where the document around it has it.
    ///   - device: which sent the incoming version; nil as `time` is.
    package init(_ decision: Decision<KeptVersion>, text: String, time: Int64? = nil, device: String? = nil) {
        self.decision = decision
        self.text = text
        self.time = time
        self.device = device
    }

    private enum CodingKeys: CodingKey {
        case time, device, winner, reason, incoming, present, text
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(time, forKey: .time)
        try container.encodeIfPresent(device, forKey: .device)
        try container.encode(decision.winner.rawValue, forKey: .winner)
        try container.encode(decision.reason.name, forKey: .reason)
        try container.encode(decision.incoming, forKey: .incoming)
        try container.encode(decision.present, forKey: .present)
        try container.encode(text, forKey: .text)
    }
}
