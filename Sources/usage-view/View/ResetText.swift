import Foundation
import SnapshotModels
import TerminalText

/// When a window starts again, in words.
struct ResetText {
    private let now: Date
    private let clock: ClockText
    private let isAbsolute: Bool

    init(model: ViewModel) {
        now = model.now
        clock = ClockText(zone: model.zone, now: model.now)
        isAbsolute = model.options.isAbsolute
    }

    /// "resets in 1h 30m", "resets 13:30"; empty where the reset is not known.
    func upcoming(_ window: SyncRateWindow) -> String { window.resetsAt.map(text) ?? "" }

    func text(_ date: Date) -> String {
        if date <= now { return past(date) }
        return isAbsolute
            ? "resets " + clock.text(date)
            : "resets in " + DurationWords.countdown(to: date, from: now)
    }

    /// For a window whose reset has passed: the number that belonged to it is not said any more.
    func expired(_ window: SyncRateWindow) -> String {
        guard let date = window.resetsAt else { return "no newer data" }
        return past(date) + ", no newer data"
    }

    private func past(_ date: Date) -> String {
        isAbsolute
            ? "reset at " + clock.text(date) : "reset " + DurationWords.age(of: date, at: now)
    }
}

enum PaceText {
    /// "over pace · runs out in 50m", "under pace, lasts".
    static func text(_ pace: Pace, now: Date) -> String {
        let stage =
            switch pace.stage {
            case .farUnder: "far under pace"
            case .under: "under pace"
            case .slightlyUnder: "slightly under pace"
            case .onPace: "on pace"
            case .slightlyOver: "slightly over pace"
            case .over: "over pace"
            case .farOver: "far over pace"
            }
        guard let end = pace.runsOutAt else { return stage + ", lasts" }
        if end <= now { return stage + " · may have run out" }
        return stage + " · runs out in " + DurationWords.countdown(to: end, from: now)
    }
}
