import Foundation
import Testing

@testable import UsagePusher

extension WatchLimits {
    /// For systems whose watcher compares files.
    static var quick: WatchLimits {
        var limits = WatchLimits()
        limits.pollInterval = .milliseconds(20)
        return limits
    }
}

/// A temporary directory, removed with its last reference, and one watcher.
final class WatchedDirectory {
    let path: String
    private var events: WatchEvents.AsyncIterator?
    private(set) var degradations: [String] = []
    private let fence: WatchedPath

    init() throws {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
        path = WatchPath.join(base, "watch-\(UUID().uuidString)")
        fence = WatchedPath(WatchPath.join(path, "fence"))
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func at(_ name: String) -> String { WatchPath.join(path, name) }

    func watch(
        _ paths: [WatchedPath], with watcher: some FileWatcher = SystemFileWatcher(limits: .quick)
    ) async throws {
        events = watcher.events(for: paths + [fence]).makeAsyncIterator()
        while let event = await events?.next() {
            switch event {
            case .started: return
            case .degraded(let reason): degradations.append(reason)
            case .changed: Issue.record("a change before the start")
            }
        }
        Issue.record("the events ended before the start")
    }

    /// Waits for a change of the path, at most for the suite's time limit.
    func waitForChange(of path: WatchedPath) async {
        while let paths = await nextChange() {
            if paths.contains(path) { return }
        }
        Issue.record("the events ended")
    }

    /// Waits for a change of the path, and until all earlier ones have been reported.
    func waitUntilSettled(afterChangeOf path: WatchedPath) async throws {
        await waitForChange(of: path)
        try await settle()
    }

    /// Appends to the file, or creates it, and waits until that change of the path has been reported.
    func write(_ text: String, to file: String, changing path: WatchedPath) async throws {
        try write(text, to: file)
        try await waitUntilSettled(afterChangeOf: path)
    }

    /// Waits until all earlier changes have been reported, and returns their paths.
    @discardableResult
    func settle() async throws -> Set<WatchedPath> {
        var seen: Set<WatchedPath> = []
        // Bounded, in case changes are reported without end.
        for _ in 0..<100 {
            try write("x", to: fence.path)
            guard let paths = await nextChange() else {
                Issue.record("the events ended")
                return seen
            }
            guard paths != [fence] else { return seen }
            seen.formUnion(paths.subtracting([fence]))
        }
        Issue.record("the events do not end: \(seen)")
        return seen
    }

    private func nextChange() async -> Set<WatchedPath>? {
        while let event = await events?.next() {
            switch event {
            case .changed(let paths): return paths
            case .degraded(let reason): degradations.append(reason)
            case .started: Issue.record("a second start")
            }
        }
        return nil
    }

    /// Appends to the file, or creates it.
    func write(_ text: String, to path: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    func setModified(_ date: Date, _ path: String) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    func createDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    func move(_ path: String, to target: String) throws {
        try FileManager.default.moveItem(atPath: path, toPath: target)
    }

    /// Replaces the target as editors and tools do.
    func replace(_ target: String, with text: String) throws {
        let temporary = target + ".new"
        try write(text, to: temporary)
        try #require(rename(temporary, target) == 0)
    }
}
