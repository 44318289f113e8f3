public import Foundation

/// What Claude Code told a status line about the limits, as it is kept in a file.
///
/// The file is JSON, one per session, named after a hash of the session's id:
///
///     {"version": 1, "session": "<16 hex digits>", "capturedAt": <unix seconds>,
///      "windows": {"five_hour": {"usedPercent": 23.5, "resetsAt": <unix seconds>,
///                                "observedAt": <unix seconds>}, "seven_day": {…}}}
///
/// It holds nothing else of what the status line was told: no path, no model, no cost. Windows keep
/// their names; `observedAt` is each window's own, since a later status line may lack it.
public struct ClaudeStatuslineCapture: Sendable, Equatable {
    static let version = 1
    private static let windowLimit = 8

    /// 16 hexadecimal digits.
    public private(set) var session: String
    public private(set) var capturedAt: Date
    private(set) var windows: [String: WindowReading]

    /// From the JSON that Claude Code passes to a status line.
    ///
    /// Nil when it holds no limits (absent or null in some versions, and before the first answer of
    /// a session): what was captured before then stays as it is.
    public init?(statusline: Data, capturedAt: Date) {
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

    /// From a capture file; nil when it is none, or of a version that this code does not know.
    public init?(document: Data) {
        guard let fields = JSONFields(document) else { return nil }
        self.init(fields)
    }

    init?(_ fields: JSONFields) {
        guard fields.number("version") == Double(Self.version),
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

    /// This capture with what an earlier one of the same session knew: per window the latest reset
    /// wins, then the greatest percent, then the newest; a window that this one lacks is kept.
    public func merged(with earlier: ClaudeStatuslineCapture) -> ClaudeStatuslineCapture {
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

    /// The file's bytes; the same capture always gives the same.
    public var document: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let content = Content(
            version: Self.version, session: session,
            capturedAt: Self.wholeSeconds(capturedAt),
            windows: windows.mapValues { reading in
                Content.Window(
                    usedPercent: reading.usedPercent,
                    resetsAt: reading.resetsAt.map(Self.wholeSeconds),
                    observedAt: Self.wholeSeconds(reading.observedAt))
            })
        guard let bytes = try? encoder.encode(content) else {
            preconditionFailure("a capture holds only finite numbers")
        }
        return bytes
    }

    private struct Content: Encodable {
        struct Window: Encodable {
            var usedPercent: Double
            var resetsAt: Int64?
            var observedAt: Int64
        }
        var version: Int
        var session: String
        var capturedAt: Int64
        var windows: [String: Window]
    }

    private static func windows(
        _ fields: JSONFields, reading: (JSONFields) -> WindowReading?
    ) -> [String: WindowReading] {
        var windows: [String: WindowReading] = [:]
        for name in fields.names.sorted() where windows.count < windowLimit {
            guard let window = ClaudeWindow(name: name), let value = fields.fields(name),
                let reading = reading(value),
                reading.resetsAt.map({
                    WindowReadings.isPlausible(
                        reset: $0, kind: window.kind, from: reading.observedAt)
                }) ?? true
            else { continue }
            windows[name] = reading
        }
        return windows
    }

    private static func wholeSeconds(_ date: Date) -> Int64 {
        Int64(date.timeIntervalSince1970.rounded(.down))
    }

    /// FNV-1a: names a file after a random UUID; it protects nothing.
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
