import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// Metrics in the text exposition format of Prometheus, version 0.0.4.
struct PrometheusText {
    /// A metric with its samples: a label set occurs once.
    private struct Metric {
        let name: String
        let help: String
        private(set) var lines: [String] = []
        private var known: Set<String> = []

        init(_ name: String, _ help: String) {
            self.name = "ubiquity_usage_" + name
            self.help = help
        }

        mutating func add(_ labels: [(name: String, value: String)], _ value: Double?) {
            guard let value, value.isFinite, lines.count < PrometheusText.seriesLimit else { return }
            let set = labels.map { "\($0.name)=\"\(PrometheusText.escape($0.value))\"" }.joined(separator: ",")
            guard known.insert(set).inserted else { return }
            lines.append(name + (set.isEmpty ? "" : "{\(set)}") + " " + PrometheusText.number(value))
        }

        var text: String {
            lines.isEmpty ? "" : "# HELP \(name) \(help)\n# TYPE \(name) gauge\n" + lines.joined(separator: "\n") + "\n"
        }
    }

    /// The most samples of one metric; each is a time series that somebody stores.
    static let seriesLimit = 500
    private static let labelCells = 120

    let text: String

    init(_ model: ViewModel) {
        var up = Metric("up", "Whether the local replica could be read.")
        var ratio = Metric("window_used_ratio", "Used part of a limit; absent once it has been reset.")
        var urgency = Metric(
            "window_urgency", "0 comfortable, 1 low, 2 runs out before its reset, 3 critical; absent if not known.")
        var reset = Metric("window_reset_timestamp_seconds", "When a limit is reset.")
        var length = Metric("window_length_seconds", "Length of the rate limit window.")
        var observed = Metric("observed_timestamp_seconds", "When the numbers of an account were observed.")
        var failed = Metric("account_error", "Whether the limits of an account cannot be read.")
        var pushed = Metric("device_push_timestamp_seconds", "When a device pushed last.")

        up.add([], model.situation == .unreadable ? 0 : 1)
        for state in model.providers {
            let snapshot = state.snapshot
            let account = [
                (name: "provider", value: snapshot.providerID),
                (name: "account", value: snapshot.accountEmail ?? ""),
            ]
            observed.add(account, snapshot.lastUpdated.timeIntervalSince1970)
            failed.add(account, snapshot.isError ? 1 : 0)
            for window in state.windows {
                let item = UsageItem(state, window, at: model.now)
                let labels = account + [(name: "window", value: window.label.text)]
                ratio.add(labels, item.usedPercent.map { $0 / 100 })
                urgency.add(labels, item.urgency.map { Double($0.number) })
                reset.add(labels, item.resetsAt?.timeIntervalSince1970)
                length.add(labels, window.window.windowMinutes.map { Double($0) * 60 })
            }
        }
        for device in model.devices {
            pushed.add([(name: "device", value: device.name)], device.lastPush.timeIntervalSince1970)
        }
        text = [up, ratio, urgency, reset, length, observed, failed, pushed].map(\.text).joined()
    }

    /// Visible text, so that nothing in a label acts on who reads it, with the format's own escapes.
    static func escape(_ text: String) -> String {
        VisibleText.escape(text).truncated(toCells: labelCells)
            .replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// "0.43", "1789732800".
    static func number(_ value: Double) -> String { Int64(exactly: value).map(String.init) ?? "\(value)" }
}
