package import Essentials

/// An alert for other programs: the standard input of a command, the body of a webhook. Fields are added, never renamed
/// or removed; absent values are omitted, times are ISO 8601 in UTC.
package struct AlertDocument: Sendable, Encodable {
    private struct Provider: Encodable {
        var id: String
        var name: String
        var account: String?
    }

    private struct Window: Encodable {
        var label: String
        var minutes: Int?
        var usedPercent: Double?
        var resetsAt: Date?
        var runsOutAt: Date?
    }

    private struct Device: Encodable {
        var name: String
        var lastPush: Date?
    }

    private let alert: Alert
    private let text: AlertText

    package init(_ alert: Alert, text: AlertText) {
        self.alert = alert
        self.text = text
    }

    package var data: Data {
        let encoder = JSONEncoder.sorted(dates: .iso8601)
        // Percentages may be NaN or infinite.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder.data(of: self)
    }

    private enum CodingKeys: CodingKey {
        case schemaVersion, id, kind, urgency, title, message, at, provider, window, threshold
        case observedAt, device, pause, events
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(1, forKey: .schemaVersion)
        try fields.encode(text.title, forKey: .title)
        try fields.encode(text.message, forKey: .message)
        try Self.encode(alert, into: &fields)
        let events = alert.events?.prefix(AlertText.eventLimit).map(Event.init)
        try fields.encodeIfPresent(events, forKey: .events)
    }

    /// One of a summary.
    private struct Event: Encodable {
        let alert: Alert

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try AlertDocument.encode(alert, into: &fields)
        }
    }

    private static func encode(_ alert: Alert, into fields: inout KeyedEncodingContainer<CodingKeys>) throws {
        try fields.encode(alert.mark.text, forKey: .id)
        try fields.encode(alert.kind, forKey: .kind)
        try fields.encode(alert.urgency, forKey: .urgency)
        try fields.encode(alert.at, forKey: .at)
        try fields.encodeIfPresent(alert.threshold, forKey: .threshold)
        try fields.encodeIfPresent(alert.observedAt, forKey: .observedAt)
        if let subject = alert.subject {
            try fields.encode(
                Provider(id: subject.providerID, name: subject.providerName, account: subject.account),
                forKey: .provider)
            try fields.encode(
                Window(
                    label: subject.window, minutes: subject.windowMinutes, usedPercent: alert.usedPercent,
                    resetsAt: alert.resetsAt, runsOutAt: alert.runsOutAt), forKey: .window)
        }
        try fields.encodeIfPresent(alert.pause, forKey: .pause)
        if let name = alert.device { try fields.encode(Device(name: name, lastPush: alert.lastPush), forKey: .device) }
    }
}
