import Foundation
import SnapshotModels
import TerminalText

/// The state of the service as text or JSON. Pure.
struct ServiceReport {
    var file: String
    var isInstalled: Bool
    var state: ServiceState
    var lastPush: LastPush

    func lines(home: String, now: Date) -> [String] {
        let path = PushMessages.abbreviated(file, home: home)
        var table = TextTable(columns: [.init(""), .init("")])
        table.append([
            "unit", isInstalled ? path : "none; to install it: usage-push service install",
        ])
        table.append(["state", state.description])
        table.append(["last push", lastPushText(at: now)])
        for message in state.messages { table.append(["log", message]) }
        return table.lines()
    }

    private func lastPushText(at now: Date) -> String {
        switch lastPush {
        case .none: "none"
        case .unknown(let reason): "unknown: " + reason
        case .snapshot(let snapshot):
            DurationFormatter.age(of: snapshot.syncTimestamp, at: now) + ": "
                + PushMessages.providers(snapshot)
        }
    }

    func encoded() throws -> Data {
        var pushedAt: Date?
        if case .snapshot(let snapshot) = lastPush { pushedAt = snapshot.syncTimestamp }
        return try VisibleJSON.prettyEncoder.encode(
            Document(
                unitFile: file, isInstalled: isInstalled, isEnabled: state.isEnabled,
                isActive: state.isActive, state: state.description, lastPush: pushedAt,
                messages: state.messages))
    }

    /// Fields are added, never renamed or removed.
    private struct Document: Encodable {
        var schemaVersion = 1
        var unitFile: String
        var isInstalled: Bool
        var isEnabled: Bool
        var isActive: Bool
        var state: String
        var lastPush: Date?
        var messages: [String]
    }
}
