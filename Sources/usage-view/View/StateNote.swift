import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// Why a number may not be what it seems, and what to do about it.
struct StateNote: Equatable {
    let text: String
    /// The next step; empty if there is none.
    let next: String
    var style = TextStyle.colored(.yellow)

    static func notes(on provider: ProviderState, model: ViewModel) -> [StateNote] {
        let snapshot = provider.snapshot
        let observed = model.times.past(snapshot.lastUpdated)
        let devices = provider.deviceNames.map(VisibleText.escape).joined(separator: ", ")
        var notes: [StateNote] = []
        if snapshot.isError {
            notes.append(
                StateNote(
                    text: "Error: the tool's limits could not be read on \(devices).",
                    next: "run usage-push explain there; it names the file and the reason.",
                    style: .colored(.red)))
        }
        switch provider.freshness {
        case .fresh: break
        case .cached:
            notes.append(
                StateNote(
                    text:
                        "Cached: the tool's own file states an earlier reading, as of \(observed).",
                    next: "use the tool once; it then writes a newer one.", style: .plain))
        case .stale:
            notes.append(
                StateNote(
                    text: "Stale: last observed \(observed).",
                    next: "check usage-push on \(devices): usage-push status"))
        case .clockAhead:
            notes.append(
                StateNote(
                    text: "Clock ahead: observed in the future by this machine's clock.",
                    next: "set the clock of \(devices), or of this machine."))
        }
        let expired = provider.windows.filter(\.isExpired).map { VisibleText.escape($0.label.text) }
        if !expired.isEmpty {
            notes.append(
                StateNote(
                    text: "Expired: \(expired.joined(separator: ", ")) has been reset since.",
                    next: "use the tool once, or wait for the next push.", style: .plain))
        }
        if snapshot.isEstimate {
            notes.append(
                StateNote(
                    text: "Estimate (~): computed from local logs; the provider states no number.",
                    next: "", style: .plain))
        }
        if let offline = DeviceLines.offlineNote(model) {
            notes.append(
                StateNote(
                    text: offline, next: "check that kvsd is reachable from here: kvs status"))
        }
        return notes
    }
}
