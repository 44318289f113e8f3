import Commands
import Essentials
import SnapshotModels
import TerminalText

/// The state of the service with the last push. Pure.
struct PushServiceReport: Encodable {
    var service: ServiceReport
    var lastPush: LastPush
    /// Whether the daemon rejects this machine.
    var isRemoved: Bool

    func lines(now: Date) -> [String] {
        service.lines(
            details: [("last push", lastPushText(at: now))]
                + (isRemoved ? [("account", PushMessages.removed)] : []))
    }

    private func lastPushText(at now: Date) -> String {
        switch lastPush {
        case .none: "none"
        case .unknown(let reason): "unknown: " + reason
        case .snapshot(let snapshot):
            DurationFormatter.age(of: snapshot.syncTimestamp, at: now) + ": " + PushMessages.providers(snapshot)
        }
    }

    private enum CodingKeys: CodingKey {
        case lastPush, isRemoved
    }

    func encode(to encoder: any Encoder) throws {
        try service.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        if isRemoved { try container.encode(true, forKey: .isRemoved) }
        guard case .snapshot(let snapshot) = lastPush else { return }
        try container.encode(snapshot.syncTimestamp, forKey: .lastPush)
    }
}
