import CommandSupport
import Foundation
import SnapshotModels
import UsagePusher

/// `usage-push --print`.
struct PrintOnce {
    let isPretty: Bool
    let home: String

    func run(_ builder: SnapshotBuilder) throws {
        var builder = builder
        let now = Date()
        builder.readAll(at: now)
        guard let snapshot = builder.snapshot(at: now) else {
            throw CommandFailure(.noInput, PushText.nothing(builder, home: home))
        }
        try Console.print(VisibleJSON.text(try encoded(snapshot)))
    }

    private func encoded(_ snapshot: SyncedUsageSnapshot) throws -> Data {
        let data = try SnapshotCodec.encode(snapshot)
        guard isPretty else { return data }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(try SnapshotCodec.decode(data))
    }
}
