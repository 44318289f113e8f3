/// One of Claude's limits: session, weekly, or weekly for one model.
struct ClaudeWindow: Sendable, Hashable, Comparable {
    var kind: WindowKind
    /// The model or surface it applies to; nil for all.
    var scope: String?

    static let session = ClaudeWindow(kind: .session)
    static let weekly = ClaudeWindow(kind: .weekly)

    init(kind: WindowKind, scope: String? = nil) {
        self.kind = kind
        self.scope = scope
    }

    /// From Claude Code's names: "five_hour", "seven_day", "seven_day_opus".
    init?(name: String) {
        guard name.utf8.count <= 48 else { return nil }
        for (prefix, kind) in [("five_hour", WindowKind.session), ("seven_day", .weekly)] {
            guard name.hasPrefix(prefix) else { continue }
            let rest = name.dropFirst(prefix.count)
            if rest.isEmpty {
                self.init(kind: kind)
                return
            }
            let words = rest.split(separator: "_")
            guard rest.hasPrefix("_"), !words.isEmpty else { return nil }
            let scope = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }
            self.init(kind: kind, scope: scope.joined(separator: " ").displayText(limit: 48))
            return
        }
        return nil
    }

    static func < (left: ClaudeWindow, right: ClaudeWindow) -> Bool {
        if (left.scope == nil) != (right.scope == nil) { return left.scope == nil }
        return (left.scope ?? "", left.kind) < (right.scope ?? "", right.kind)
    }
}

/// The readings of Claude's windows from one kind of evidence.
struct ClaudeReadings: Sendable, Hashable {
    private static let limit = 32
    private(set) var windows: [ClaudeWindow: WindowReadings] = [:]

    /// Ignores an implausible reset.
    mutating func add(_ reading: WindowReading?, to window: ClaudeWindow) {
        guard let reading, reading.isPlausible(for: window.kind),
            windows[window] != nil || windows.count < Self.limit
        else { return }
        windows[window, default: WindowReadings()].add(reading)
    }

    mutating func merge(_ other: ClaudeReadings) {
        for (window, readings) in other.windows {
            guard windows[window] != nil || windows.count < Self.limit else { continue }
            windows[window, default: WindowReadings()].merge(readings)
        }
    }
}
