import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Building a snapshot")
struct SnapshotBuilderTests {
    private let home: WatchedDirectory
    private var directory: String { home.path }

    init() throws { home = try WatchedDirectory() }

    private func builder() -> SnapshotBuilder {
        SnapshotBuilder(
            sources: [
                PercentSource("codex", path: directory + "/codex"),
                PercentSource("claude", path: directory + "/claude"),
            ],
            environment: SourceEnvironment(home: directory),
            device: DeviceIdentity(id: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", name: "desk"),
            appVersion: "1.0")
    }

    @Test("without any tool there is no snapshot")
    func nothing() {
        var builder = builder()
        #expect(builder.snapshot(at: testNow) == nil)
        builder.readAll(at: testNow)
        #expect(builder.snapshot(at: testNow) == nil)
        #expect(builder.reports.map(\.reading?.isInstalled) == [false, false])
    }

    @Test("a snapshot has the providers in the order of their sources, and the device's name and id")
    func order() throws {
        try "20".write(toFile: directory + "/claude", atomically: true, encoding: .utf8)
        try "10".write(toFile: directory + "/codex", atomically: true, encoding: .utf8)
        var builder = builder()
        builder.readAll(at: testNow)
        let snapshot = try #require(builder.snapshot(at: testNow))
        #expect(snapshot.providers.map(\.providerID) == ["codex", "claude"])
        #expect(snapshot.providers.map(\.primary?.usedPercent) == [10, 20])
        #expect(snapshot.deviceName == "desk")
        #expect(snapshot.deviceID == "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
        #expect(snapshot.appVersion == "1.0")
        #expect(snapshot.syncTimestamp == testNow)
        #expect(try SnapshotCodec.decode(SnapshotCodec.encode(snapshot)) == snapshot)
    }

    @Test("only the sources whose files changed are read again")
    func partialRead() throws {
        try "20".write(toFile: directory + "/claude", atomically: true, encoding: .utf8)
        try "10".write(toFile: directory + "/codex", atomically: true, encoding: .utf8)
        var builder = builder()
        #expect(builder.watchedPaths.count == 2)
        builder.readAll(at: testNow)
        builder.read(changed: [WatchedPath(directory + "/claude")], at: testNow + 60)
        builder.read(changed: [WatchedPath(directory + "/other")], at: testNow + 90)
        let snapshot = try #require(builder.snapshot(at: testNow + 90))
        #expect(snapshot.providers.map(\.lastUpdated) == [testNow, testNow + 60])
    }
}
