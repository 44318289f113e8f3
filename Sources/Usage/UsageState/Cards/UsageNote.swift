import Essentials
import SnapshotModels
import TerminalText

/// Why a number may not be what it seems, and what to do about it. Strings are escaped.
package struct UsageNote: Sendable, Equatable, Encodable {
    package let text: TimedText
    package let tone: Tone
    /// The next step; empty if there is none.
    package let next: String

    init(_ text: TimedText, _ tone: Tone = .plain, next: String = "") {
        self.text = text
        self.tone = tone
        self.next = next
    }

    /// Each nil at times at which it is not so.
    package static func all(on provider: ProviderState) -> [Timed<UsageNote?>] {
        let snapshot = provider.snapshot
        let observed = snapshot.lastUpdated
        let devices = provider.deviceNames.map(VisibleText.escape).joined(separator: ", ")
        var notes: [Timed<UsageNote?>] = []
        if snapshot.isError {
            notes.append(
                Timed(
                    UsageNote(
                        "Error: the tool's limits could not be read on \(devices).", .bad,
                        next: "run usage-push explain there; it names the file and the reason.")))
        }
        notes.append(
            provider.freshnessByTime.map { freshness in
                switch freshness {
                case .fresh: nil
                case .cached:
                    UsageNote(
                        "Cached: the tool's own file states an earlier reading, as of \(ago: observed).",
                        next: "use the tool once; it then writes a newer one.")
                case .stale:
                    UsageNote(
                        "Stale: last observed \(ago: observed).", .warning,
                        next: provider.isPushedSince
                            ? "use the tool once; usage-push runs, and has found nothing newer."
                            : "check usage-push on \(devices): usage-push service status")
                case .clockAhead:
                    UsageNote(
                        "Clock ahead: observed in the future by this machine's clock.", .warning,
                        next: "set the clock of \(devices), or of this machine.")
                }
            })
        notes.append(expiry(of: provider))
        notes += provider.windows.filter { $0.observedAt < observed }.map { state in
            let note = UsageNote(
                "\(VisibleText.escape(state.label.text)): as of \(ago: state.observedAt); newer readings do not state it."
            )
            return Timed(note, state.window.resetsAt.map { [(from: $0, value: nil)] } ?? [])
        }
        notes += provider.windows.compactMap(pace)
        if snapshot.isEstimate {
            notes.append(Timed(UsageNote("Estimate (~): computed from local logs; the provider states no number.")))
        }
        return notes
    }

    /// The pace in full, until the reset.
    private static func pace(of state: WindowState) -> Timed<UsageNote?>? {
        guard let pace = state.pace, let end = state.window.resetsAt else { return nil }
        let note = UsageNote("\(VisibleText.escape(state.label.text)): " + pace.text)
        return Timed(note, [(from: end, value: nil)])
    }

    /// Which windows have been reset, from each reset on.
    private static func expiry(of provider: ProviderState) -> Timed<UsageNote?> {
        let ends = Set(provider.windows.compactMap(\.window.resetsAt)).sorted()
        return Timed(
            nil,
            ends.map { end in
                let labels = provider.windows
                    .filter { $0.window.isReset(at: end) }
                    .map { VisibleText.escape($0.label.text) }
                let note = UsageNote(
                    "Expired: \(labels.joined(separator: ", ")) has been reset since.",
                    next: "use the tool once, or wait for the next push.")
                return (from: end, value: note)
            })
    }

    /// Nil where this machine reaches the daemon or shows only its own numbers.
    package static func link(_ link: UsageData.Link) -> UsageNote? {
        if link.state == .removed {
            return UsageNote(
                "Removed from the account: newer numbers are not received. Run \(UsageData.Link.rejoining).", .bad)
        }
        guard link.state == .offline else { return nil }
        let text: TimedText =
            link.lastSeen.map {
                "Offline, daemon last seen \(ago: $0): newer numbers may exist."
            } ?? "Offline: the daemon has not responded yet, newer numbers may exist."
        return UsageNote(text, .warning, next: "check that kvsd is reachable from here: kvs status")
    }
}
