import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// What a screen says, as sentences: one fact per line, for screen readers and logs.
///
/// Resets are clock times, so that a fact changes when something happened, not because time passes.
struct PlainFacts: Equatable {
    /// In order; each has an id, by which an older version of it is found.
    private let facts: [(id: String, text: String)]

    static func == (left: PlainFacts, right: PlainFacts) -> Bool { left.lines == right.lines }

    init(_ model: ViewModel) {
        var facts: [(id: String, text: String)] = []
        var times = model.times
        times.isAbsolute = true
        if model.situation != .ready {
            let text = EmptyState.lines(for: model, width: .max).map { $0.plainText.trimmed() }.joined(separator: " ")
            facts.append(("situation", text))
        }
        if model.situation == .ready, let answer = UsageAnswer(model).forms.first {
            facts.append(("answer", answer.text(times)))
        }
        for provider in model.providers {
            let title = provider.title
            for window in provider.windows {
                let label = VisibleText.escape(window.label.text)
                let item = UsageItem(provider, window, at: model.now)
                facts.append(
                    (provider.id + "\t" + label, "\(title), \(label): \(Self.text(window, item, model, times))"))
            }
            let card = UsageCard(provider)
            for row in card.rows.dropFirst(card.windowCount) where !row.label.isEmpty {
                let text =
                    switch row.content.value(at: model.now) {
                    case .text(let text): text.text.text(times)
                    case .gauge(let gauge):
                        Parts.joined(model.percentText(used: gauge.usedPercent), gauge.details.text(times))
                    }
                facts.append((provider.id + "\t" + row.label, "\(title), \(row.label): \(text)"))
            }
            if provider.snapshot.isError {
                let reason = VisibleText.escape(provider.snapshot.statusMessage ?? "no reason given")
                facts.append((provider.id + "\terror", "\(title): error: \(reason)"))
            }
            if provider.freshness != .fresh {
                facts.append(
                    (
                        provider.id + "\tage",
                        title + ": " + card.age.value(at: model.now).text.text(times)
                    ))
            }
        }
        for device in model.devices {
            let name = VisibleText.escape(device.name)
            let presence =
                device.availability?.word
                ?? (device.presence == .clockAhead ? "clock ahead" : device.presence.rawValue)
            facts.append(("device " + (device.id ?? device.name), "\(name): \(presence)"))
        }
        if let note = UsageNote.link(model.data.link) { facts.append(("link", note.text.text(times))) }
        self.facts = facts
    }

    private static func text(
        _ state: WindowState, _ item: UsageItem, _ model: ViewModel, _ times: TimeFormatter
    ) -> String {
        let reset = state.window.resetsAt.map { times.reset($0) }
        if state.isExpired { return (reset ?? "reset") + ", no newer data" }
        let level =
            switch item.urgency {
            case .critical: ", less than 10 % left"
            case .low: ", less than 25 % left"
            case .runsOut, .comfortable, nil: ""
            }
        let end = item.urgency == nil ? nil : state.warning
        let out =
            end.map { $0 > model.now ? ", runs out before its reset, at \(times.clock($0))" : ", may have run out" }
        let kind = (item.isAtLeast ? model.options.measure.bound : "") + (item.isEstimate ? "estimated " : "")
        let percent = model.percentText(used: state.window.usedPercent)
        return kind + percent + level + (out ?? "") + (reset.map { ", " + $0 } ?? "")
    }

    var lines: [String] { facts.map(\.text) }

    /// The facts that are new or different, and the ids' former texts of those that are gone, as lines.
    func changes(since former: PlainFacts) -> [String] {
        let old = Dictionary(former.facts.map { ($0.id, $0.text) }) { first, _ in first }
        let ids = Set(facts.map(\.id))
        let gone = former.facts.filter { !ids.contains($0.id) }.map { "no longer: " + $0.text }
        return facts.filter { old[$0.id] != $0.text }.map(\.text) + gone
    }
}
