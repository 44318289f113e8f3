import BackgroundServices
import Foundation
import SnapshotModels
import TerminalText

/// The state of the service with the last push. Pure.
struct PushServiceReport: Encodable {
    var service: ServiceReport
    var lastPush: LastPush

    func lines(now: Date) -> [String] {
        service.lines(details: [("last push", lastPushText(at: now))])
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

    private enum CodingKeys: CodingKey {
        case lastPush
    }

    func encode(to encoder: any Encoder) throws {
        try service.encode(to: encoder)
        guard case .snapshot(let snapshot) = lastPush else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(snapshot.syncTimestamp, forKey: .lastPush)
    }
}
