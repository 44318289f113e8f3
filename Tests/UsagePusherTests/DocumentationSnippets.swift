import Foundation
import KVStoreEssentials
import SnapshotModels
import StoreTestSupport
import Testing

@testable import UsagePusher

private struct ExampleSource: UsageSource {
    let providerID = "example"
    let providerName = "Example"

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        [WatchedPath(environment.home + "/.example")]
    }

    func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        let path = environment.home + "/.example"
        let file = FileHandle(forReadingAtPath: path)
        guard let data = try? file?.read(upToCount: environment.limits.documentByteCount),
            let percent = Double(String(decoding: data, as: UTF8.self))
        else { return SourceReading(isInstalled: false) }
        let card = ProviderUsageSnapshot(
            providerID: providerID, providerName: providerName, primary: SyncRateWindow(usedPercent: percent),
            lastUpdated: now)
        let finding = SourceFinding(path: path, title: "Example", certainty: .exact, detail: "\(percent) % used")
        return SourceReading(isInstalled: true, providers: [card], findings: [finding])
    }
}

private struct StoreSink: SnapshotSink {
    let store: UbiquitousKeyValueStore

    func put(_ values: [String: Data], of snapshot: SyncedUsageSnapshot) throws {
        try store.write(values.mapValues { .data($0) })
    }

    func otherDeviceSnapshots() throws -> [Data] {
        let keys = store.keys.filter { $0.hasPrefix(SyncedUsageSnapshot.storeKey(deviceID: "")) }
        return keys.compactMap { store.data(forKey: $0) }
    }
}

@Suite("Snippets: from files to pushes", .timeLimit(.minutes(5)))
struct PusherSnippets {
    private let now = sampleNow
    private let printed = PrintedLines()

    @Test("the sources are listed, read and explained")
    func sources() throws {
        let print = printed
        for source in UsageSources.all { print(source.providerID, source.toolName) }
        #expect(print.lines.count == UsageSources.all.count && print.lines[0] == "claude Claude Code")
        let sample = try SampleHome(copying: "claude/usual")
        let home = sample.path
        var environment = SourceEnvironment(home: home)
        environment.limits.fileCount = 1_000
        environment.explains = true
        var claude = ClaudeSource()
        for one in claude.read(in: environment, at: now).considered { print(one.statement, one.isShown, one.reason) }
        #expect(
            print.lines.contains(
                "session 22 %, resets 2026-09-18T14:10:00Z true the newest reading of this limit"))
        var source = claude
        let reading = source.read(in: environment, at: now)
        environment.accounts = reading.accounts ?? environment.accounts  // for the next read
        #expect(environment.accounts != AccountHistory())
        var builder = SnapshotBuilder(
            sources: UsageSources.all, environment: SourceEnvironment(home: home),
            device: DeviceIdentity(id: nil, name: "desk"))
        builder.readAll(at: now)
        if let snapshot = builder.snapshot(at: now) { print(snapshot.providers.map(\.providerName)) }
        #expect(print.lines.last == #"["Claude"]"#)
    }

    /// Reads 42 % of an example's limit.
    private func builder(in directory: WatchedDirectory) throws -> SnapshotBuilder {
        try directory.write("42", to: directory.at(".example"))
        return SnapshotBuilder(
            sources: [ExampleSource()], environment: SourceEnvironment(home: directory.path),
            device: DeviceIdentity(id: "1", name: "desk"))
    }

    @Test("a snapshot of an own source is pushed to a store when the plan says so")
    func publishing() throws {
        let (print, directory) = (printed, try WatchedDirectory())
        var builder = try builder(in: directory)
        builder.readAll(at: now)
        let snapshot = try #require(builder.snapshot(at: now))
        var plan = PushPlan(at: .zero)
        print(plan.next(at: .zero))  // readAll
        plan.readEnded(snapshot, at: .milliseconds(20))
        print(plan.next(at: .milliseconds(20)))  // push(…)
        plan.pushEnded(succeeded: true, at: .milliseconds(30))
        #expect(print.lines.count == 2 && print.lines[0] == "readAll" && print.lines[1].hasPrefix("push("))
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: directory.at("replica")))
        defer { store.close() }
        let sink = StoreSink(store: store)
        let receipt = try SnapshotPublisher(sink: sink).publish(snapshot, at: now)
        print("\(receipt.mergedByteCount) bytes, devices: \(receipt.deviceCount)")
        #expect(print.lines.last?.hasSuffix(" bytes, devices: 1") == true)
        #expect(try sink.otherDeviceSnapshots().map { try SnapshotCodec.decode($0) } == [snapshot])
        let merged = SnapshotCodec.read(store.data(forKey: SyncedUsageSnapshot.storeKey))
        #expect(merged?.providers.map(\.providerID) == ["example"])
    }

    @Test("a loop pushes what it finds at first, until its task is cancelled")
    func looping() async throws {
        let (directory, sink) = (try WatchedDirectory(), MemorySink())
        let builder = try builder(in: directory)
        let printed = printed
        await Task {
            @Sendable func print(_ names: [String]) {
                printed(names)
                withUnsafeCurrentTask { $0?.cancel() }
            }
            let loop = PushLoop(builder: builder, sink: sink) { report in
                if case .pushed(let snapshot, _, _) = report { print(snapshot.providers.map(\.providerName)) }
            }
            await loop.run()  // until the task is cancelled
        }.value
        #expect(printed.lines == [#"["Example"]"#] && sink.putCount == 1)
    }

    @Test("a watcher says when to read, at first and after a change")
    func watching() async throws {
        let watched = try WatchedDirectory()
        let (print, directory) = (printed, watched.path)
        let readCount = await Task {
            var readCount = 0
            func read() {
                readCount += 1
                if readCount == 1 {
                    _ = FileManager.default.createFile(atPath: directory + "/new", contents: nil)
                } else {
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            var limits = WatchLimits()
            limits.pollInterval = .milliseconds(20)
            let watcher = SystemFileWatcher(limits: limits)
            for await event in watcher.events(for: [WatchedPath(directory, isRecursive: true)]) {
                switch event {
                case .started, .changed: read()
                case .degraded(let reason): print(reason)
                }
            }
            return readCount
        }.value
        #expect(readCount == 2)
        withExtendedLifetime(watched) {}
    }
}
