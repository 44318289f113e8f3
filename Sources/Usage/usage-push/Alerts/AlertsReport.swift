import Essentials
import TerminalText
import UsageState

/// What `usage-push alerts` prints. Pure. As JSON, fields are added, never renamed or removed; secrets are only named.
struct AlertsReport: Encodable {
    private struct Target: Encodable {
        var name: AlertTargetKind
        var command: [String]?
        var server: String?
        var click: String?
    }

    private struct Event: Encodable {
        var at: Date
        var title: String
        var message: String
        var outcomes: [AlertTargets.Outcome]
    }

    private var schemaVersion = 1
    private var targets: [Target]
    private var secrets: [AlertSecrets.Name]
    private var privateHosts: [String]
    private var quiet: QuietHours?
    private var independent: Bool
    private var rules: AlertRules
    /// Newest first.
    private var events: [Event]

    private static let shownEvents = 10

    /// - Parameter entries: oldest first.
    init(_ settings: AlertSettings, _ secrets: AlertSecrets, _ entries: [AlertJournal.Entry]) {
        targets = settings.targets.map { kind in
            switch kind {
            case .command: Target(name: kind, command: settings.command)
            case .ntfy:
                Target(name: kind, server: settings.ntfy?.server, click: settings.ntfy?.click)
            case .desktop, .webhook: Target(name: kind)
            }
        }
        self.secrets = AlertSecrets.Name.allCases.filter { secrets[$0] != nil }
        privateHosts = settings.privateHosts
        quiet = settings.quiet
        independent = settings.independent
        rules = settings.rules
        events = entries.reversed().map {
            Event(at: $0.at, title: $0.title, message: $0.message, outcomes: $0.outcomes)
        }
    }

    func lines(now: Date) -> [String] {
        var rows: [(String, String)] = []
        rows += targets.map { target in
            let detail = target.command?.joined(separator: " ") ?? target.server ?? ""
            return ("target", target.name.rawValue + (detail.isEmpty ? "" : "  " + detail))
        }
        if targets.isEmpty { rows.append(("target", "none; run usage-push alerts enable desktop")) }
        if !secrets.isEmpty { rows.append(("secrets", secrets.map(\.rawValue).joined(separator: ", "))) }
        rows += privateHosts.map { ("private host", $0) }
        rows.append(("thresholds", Self.percentages(rules.thresholds)))
        rows += rules.scopes.sorted { $0.key < $1.key }.map { ($0.key, Self.percentages($0.value)) }
        rows.append(("reached", Self.word(rules.reached)))
        rows.append(("reset", rules.resetFrom.map { "from \(Self.number($0)) % used" } ?? "off"))
        rows.append(("runs out", Self.word(rules.runsOut)))
        rows.append(("silence", Self.word(rules.silence)))
        rows.append(("pauses", Self.word(rules.pauses)))
        if !rules.doubts.isEmpty {
            rows.append(("also by", rules.doubts.map(\.rawValue).sorted().joined(separator: ", ")))
        }
        rows.append(("quiet hours", quiet?.text ?? "off"))
        if independent { rows.append(("independent", "on: warns whatever other machines do")) }
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        return rows.map { name, text in
            VisibleText.escape(name.padded(toCells: width) + text)
        } + eventLines(now: now)
    }

    private func eventLines(now: Date) -> [String] {
        guard !events.isEmpty else { return ["", "no alerts yet"] }
        return [""]
            + events.prefix(Self.shownEvents).flatMap { event in
                let failures = event.outcomes.compactMap { outcome in
                    outcome.failure.map { "  not by \(outcome.target.rawValue): \($0)" }
                }
                let line = DurationFormatter.age(of: event.at, at: now) + "  " + event.title
                return ([line] + failures).map { VisibleText.escape($0) }
            }
    }

    private static func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }

    private static func percentages(_ list: [Double]) -> String {
        list.isEmpty ? "off" : list.map { number($0) + " %" }.joined(separator: ", ")
    }

    private static func number(_ value: Double) -> String { value == value.rounded() ? "\(Int(value))" : "\(value)" }
}
