import Foundation

/// The limits that Claude Code passed to a status line, as they are saved in a file.
///
/// A JSON file per session, named after a hash of the session's id:
///
///     {"version": 1, "session": "<16 hex digits>", "capturedAt": <unix seconds>,
///      "windows": {"five_hour": {"usedPercent": 23.5, "resetsAt": <unix seconds>,
///                                "observedAt": <unix seconds>}, "seven_day": {…}}}
///
/// Nothing else of the status line's input is saved: no path, no model, no cost. Windows keep their
/// names and each its own `observedAt`, since a later status line may lack a window.
struct ClaudeStatuslineCapture: Sendable, Equatable, Encodable {
    private static let currentVersion = 1
    private static let windowLimit = 8

    private var version = Self.currentVersion
    /// 16 hexadecimal digits.
    private(set) var session: String
    private(set) var capturedAt: Date
    private(set) var windows: [String: WindowReading]

    /// From the JSON that Claude Code passes to a status line.
    ///
    /// Nil when it contains no limits: they are absent or null in some versions, and before the
    /// first answer of a session.
    init?(statusline: Data, capturedAt: Date) {
        guard let document = JSONFields(statusline), let limits = document.fields("rate_limits")
        else { return nil }
        session = Self.hash(document.text("session_id") ?? "")
        self.capturedAt = capturedAt
        windows = Self.windows(limits) { fields in
            WindowReading(
                usedPercent: fields.number("used_percentage", "utilization"),
                resetsAt: fields.date("resets_at"), observedAt: capturedAt)
        }
        if windows.isEmpty { return nil }
    }

    /// From a capture file; nil when it is not one, or of an unknown version.
    init?(_ fields: JSONFields) {
        guard fields.number("version") == Double(Self.currentVersion),
            let session = fields.text("session"), Self.isHash(session),
            let capturedAt = fields.date("capturedAt"), let windows = fields.fields("windows")
        else { return nil }
        self.session = session
        self.capturedAt = capturedAt
        self.windows = Self.windows(windows) { fields in
            WindowReading(
                usedPercent: fields.number("usedPercent"), resetsAt: fields.date("resetsAt"),
                observedAt: fields.date("observedAt") ?? capturedAt)
        }
    }

    /// Adds the windows of an earlier capture of the same session: per window the latest reset
    /// wins, then the greatest percent, then the newest observation.
    func merged(with earlier: ClaudeStatuslineCapture) -> ClaudeStatuslineCapture {
        var merged = self
        for (name, reading) in earlier.windows {
            guard let window = ClaudeWindow(name: name) else { continue }
            guard let own = windows[name] else {
                if merged.windows.count < Self.windowLimit { merged.windows[name] = reading }
                continue
            }
            var both = WindowReadings()
            both.add(own)
            both.add(reading)
            merged.windows[name] = both.current(window.kind, at: capturedAt) ?? own
        }
        return merged
    }

    /// The file's bytes, the same for equal captures.
    var document: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .custom { date, encoder in
            try Int64(date.timeIntervalSince1970.rounded(.down)).encode(to: encoder)
        }
        guard let bytes = try? encoder.encode(self) else {
            preconditionFailure("a capture contains only finite numbers")
        }
        return bytes
    }

    private static func windows(
        _ fields: JSONFields, reading: (JSONFields) -> WindowReading?
    ) -> [String: WindowReading] {
        var windows: [String: WindowReading] = [:]
        for name in fields.names.sorted() where windows.count < windowLimit {
            guard let window = ClaudeWindow(name: name), let value = fields.fields(name),
                let reading = reading(value), reading.isPlausible(for: window.kind)
            else { continue }
            windows[name] = reading
        }
        return windows
    }

    /// FNV-1a, to derive a file name from a random UUID; no protection.
    private static func hash(_ text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func isHash(_ text: String) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
