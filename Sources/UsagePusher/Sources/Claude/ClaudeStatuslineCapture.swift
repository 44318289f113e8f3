import Essentials
import SnapshotModels

/// The limits that Claude Code passed to a status line, or wrote into its stream, as they are saved in a file.
///
/// A JSON file per session, named after a hash of the session's id:
///
///     {"version": 1, "session": "<16 hex digits>", "account": "<16 hex digits>", "capturedAt": <unix seconds>,
///      "windows": {"five_hour": {"usedPercent": 23.5, "resetsAt": <unix seconds>, "observedAt": <unix seconds>},
///                  "seven_day": {…, "former": {"usedPercent": 22, "resetsAt": …, "observedAt": …}},
///                  "Fable": {…, "isModel": true},
///                  "spend_limit": {…, "usedDollars": 12.5, "limitDollars": 40}}}
///
/// Nothing else of the status line's input is saved: no path, no model in use, no cost. Windows keep their names and
/// each its own `observedAt`: a session renders its old numbers again and again, so their age is that of their last
/// change. The numbers before that change are `former`, for `SessionStatements`.
struct ClaudeStatuslineCapture: Sendable, Equatable, Encodable {
    struct Window: Sendable, Equatable, Encodable {
        var usedPercent: Double
        var resetsAt: Date?
        var observedAt: Date
        /// Set for a weekly limit of the model that the window is named after.
        var isModel: Bool?
        /// For a limit on spending, where the status line states them.
        var usedDollars: Double?
        var limitDollars: Double?
        var former: Former?

        func isOfModel(_ name: String) -> Bool {
            isModel == true || ![.session, .weekly, .spending].contains(ClaudeWindow(name: name))
        }

        func states(_ other: Window) -> Bool {
            var other = other
            other.observedAt = observedAt
            other.former = former
            return self == other
        }

        var budget: SyncBudget? {
            guard let usedDollars, let limitDollars, limitDollars > 0 else { return nil }
            return SyncBudget(
                usedAmount: usedDollars, limitAmount: limitDollars, currencyCode: "USD", resetsAt: resetsAt)
        }
    }

    struct Former: Sendable, Equatable, Encodable {
        var usedPercent: Double
        var resetsAt: Date?
        var observedAt: Date
    }

    private static let currentVersion = 1
    private static let windowLimit = 16

    private var version = Self.currentVersion
    /// 16 hexadecimal digits.
    private(set) var session: String
    /// The fingerprint of the account that was logged in.
    private(set) var account: String?
    private(set) var capturedAt: Date
    private(set) var windows: [String: Window]

    /// From the JSON that Claude Code passes to a status line.
    ///
    /// Nil when it contains no limits: they are absent or null in some versions, and before the
    /// first answer of a session.
    init?(statusline: Data, account: String? = nil, capturedAt: Date) {
        guard let document = JSONFields(statusline), let limits = document.fields("rate_limits") else { return nil }
        session = (document.text("session_id") ?? "").fingerprint
        self.account = account
        self.capturedAt = capturedAt
        windows = [:]
        for name in limits.names.sorted() {
            guard let fields = limits.fields(name), ClaudeWindow(name: name, fields: fields) != nil else { continue }
            add(name, fields, isModel: nil)
        }
        for fields in limits.list("model_scoped") {
            let name = fields.text("display_name")?.displayText(limit: 48)
            guard let name else { continue }
            if ClaudeWindow(kind: .weekly, scope: name).scope != nil {
                add(name, fields, isModel: true)
            } else if windows["seven_day"] == nil {
                add("seven_day", fields, isModel: nil)
            }
        }
        if windows.isEmpty { return nil }
    }

    /// From what Claude Code's stream says; nil when it contains no limits.
    init?(_ message: ClaudeStreamMessage, account: String? = nil, capturedAt: Date) {
        guard !message.windows.isEmpty else { return nil }
        session = (message.session ?? "").fingerprint
        self.account = account
        self.capturedAt = capturedAt
        windows = [:]
        for (name, window) in message.windows.sorted(by: { $0.key < $1.key }).prefix(Self.windowLimit) {
            windows[name] = Window(
                usedPercent: window.usedPercent, resetsAt: window.resetsAt, observedAt: capturedAt)
        }
    }

    private mutating func add(_ name: String, _ fields: JSONFields, isModel: Bool?) {
        guard let percent = fields.number("used_percentage", "utilization"),
            windows.count < Self.windowLimit
        else { return }
        windows[name] = Window(
            usedPercent: percent, resetsAt: fields.reset("resets_at"), observedAt: capturedAt, isModel: isModel,
            usedDollars: fields.number("used_usd"), limitDollars: fields.number("limit_usd"))
    }

    /// From a capture file; nil when it is not one, or of an unknown version.
    init?(_ fields: JSONFields) {
        guard fields.number("version") == Double(Self.currentVersion),
            let session = fields.text("session"), Self.isHash(session),
            let capturedAt = fields.date("capturedAt"), let saved = fields.fields("windows")
        else { return nil }
        self.session = session
        account = fields.text("account").flatMap { Self.isHash($0) ? $0 : nil }
        self.capturedAt = capturedAt
        windows = [:]
        for name in saved.names.sorted().prefix(Self.windowLimit) {
            guard let window = saved.fields(name), let percent = window.number("usedPercent") else { continue }
            windows[name] = Window(
                usedPercent: percent, resetsAt: window.date("resetsAt"),
                observedAt: window.date("observedAt") ?? capturedAt, isModel: window.flag("isModel"),
                usedDollars: window.number("usedDollars"), limitDollars: window.number("limitDollars"),
                former: window.fields("former").flatMap(Former.init))
        }
    }

    /// With the windows of an earlier capture of the same session: the age of those that state the same, and session,
    /// week and spending limit if they are missing, as they are at times. A missing model has no limit any more. After
    /// a switch of accounts nothing of the earlier one is kept.
    func merged(with earlier: ClaudeStatuslineCapture) -> ClaudeStatuslineCapture {
        guard account == nil || earlier.account == nil || account == earlier.account else { return self }
        var merged = self
        merged.account = account ?? earlier.account
        for (name, window) in earlier.windows {
            if let own = windows[name] {
                if own.states(window) {
                    merged.windows[name] = window
                } else {
                    merged.windows[name]?.former = Former(
                        usedPercent: window.usedPercent, resetsAt: window.resetsAt, observedAt: window.observedAt)
                }
            } else if !window.isOfModel(name), merged.windows.count < Self.windowLimit {
                merged.windows[name] = window
            }
        }
        if merged.windows == earlier.windows { merged.capturedAt = earlier.capturedAt }
        return merged
    }

    /// What the capture says of each limit; `path` is its file's.
    func readings(path: String) -> [LimitReading] {
        let origin = LimitReading.Origin(path: path, isOfSession: true)
        return windows.flatMap { name, window -> [LimitReading] in
            let limit =
                window.isModel == true
                ? ClaudeWindow(kind: .weekly, scope: name) : ClaudeWindow(name: name)
            var reading = limit?.reading(
                window.usedPercent, resetsAt: window.resetsAt, observedAt: window.observedAt,
                account: account, origin: origin)
            reading?.budget = window.budget
            let former = window.former.flatMap {
                limit?.reading(
                    $0.usedPercent, resetsAt: $0.resetsAt, observedAt: $0.observedAt, account: account, origin: origin)
            }
            return [reading, former].compactMap { $0 }
        }
    }

    /// The file's bytes, the same for equal captures.
    var document: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .custom { date, encoder in
            try Int64(date.timeIntervalSince1970.rounded(.down)).encode(to: encoder)
        }
        // Fails only for numbers that JSON cannot write.
        guard let bytes = try? encoder.encode(self) else {
            preconditionFailure("a capture contains only finite numbers")
        }
        return bytes
    }

    static func isHash(_ text: String) -> Bool {
        text.utf8.count == 16 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}

extension ClaudeStatuslineCapture.Former {
    init?(_ fields: JSONFields) {
        guard let percent = fields.number("usedPercent"), let time = fields.date("observedAt") else { return nil }
        self.init(usedPercent: percent, resetsAt: fields.date("resetsAt"), observedAt: time)
    }
}
