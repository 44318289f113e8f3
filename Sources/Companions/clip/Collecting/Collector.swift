import Commands
import Dispatch
import LocalFiles

/// Keeps what is copied until it is cancelled. One per user.
struct Collector: Sendable {
    let store: HistoryStore
    /// What was asked for; nil for what the session offers.
    let requested: CollectorBackend?
    let environment: [String: String]

    private static let delays: [Duration] = [1, 2, 5, 15, 60].map { .seconds($0) }
    /// How often a service looks for a session that has a display.
    private static let sessionDelay = Duration.seconds(60)

    /// Makes this process the collector of its user until the result is gone; nil if another one is.
    static func lock(_ files: ClipFiles) throws(FileError) -> FileLock? {
        try files.collector.directory.create()
        let lock = try FileLock(files.collector.path + ".lock")
        return try lock.lockIfAvailable() ? lock : nil
    }

    /// As `lock`, also where `isRunning` of another program has the lock for an instant.
    static func lock(_ files: ClipFiles, tries: Int) async throws -> FileLock? {
        for _ in 1..<tries {
            if let lock = try lock(files) { return lock }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try lock(files)
    }

    /// Whether a collector runs.
    static func isRunning(_ files: ClipFiles) -> Bool {
        // Where it cannot be looked at, nothing collects.
        guard let status = try? FileStatus(path: files.collector.path + ".lock"),
            status.kind == .file
        else { return false }
        return (try? lock(files)) ?? nil == nil  // Only a lock that is taken here proves the contrary.
    }

    /// Returns when the task is cancelled. A display that ends, or is not there yet, is waited for.
    func run() async {
        let cancellation = Cancellation()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "collector").async {
                    collect(cancellation)
                    continuation.resume()
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    private func collect(_ cancellation: Cancellation) {
        var failures = 0
        var reported: String?
        while !cancellation.isCancelled {
            let environment = SessionEnvironment.present(environment)
            let backend = requested ?? .detect(environment)
            do {
                guard let source = try source(backend, environment, cancellation) else {
                    let reason = backend.limits.joined(separator: "\n")
                    if reason != reported { Console.note(reason) }
                    reported = reason
                    _ = cancellation.wait(until: mayHaveDisplay(backend) ? .now + Self.sessionDelay : nil)
                    continue
                }
                Console.note("collecting copies (\(backend.name))")
                setDisplayProblem(nil)
                let start = ContinuousClock.now
                defer { if ContinuousClock.now - start > Self.sessionDelay { failures = 0 } }
                reported = nil
                try record(source, cancellation)
            } catch {
                guard !cancellation.isCancelled else { return }
                let reason = "\(error)"
                if reason != reported { Console.report(reason + "; trying again") }
                setDisplayProblem(reason)
                reported = reason
                let delay = Self.delays[min(failures, Self.delays.count - 1)]
                failures += 1
                _ = cancellation.wait(until: .now + delay)
            }
        }
    }

    /// For `clip status`.
    private func setDisplayProblem(_ problem: String?) {
        guard store.state.displayProblem != problem else { return }
        do { try store.exclusively { _, state in state.displayProblem = problem } } catch {
            Console.report("the state is not stored: \(error)")
        }
    }

    /// Whether a session may begin after this service.
    private func mayHaveDisplay(_ backend: CollectorBackend) -> Bool {
        requested == nil && backend == .none(.noDisplay) && SessionEnvironment.isService(environment)
    }

    private func source(
        _ backend: CollectorBackend, _ environment: [String: String], _ cancellation: Cancellation
    ) throws(SourceError) -> (any ClipboardSource)? {
        switch backend {
        case .wayland: return try WaylandSource(environment: environment, cancellation)
        case .x11:
            do throws(SourceError) {
                return try X11Source(environment: environment, cancellation)
            } catch {
                guard [X11Connection.notLocal, X11Source.noXFixes].contains(error) else { throw error }
                Console.note("\(error): it is read twice a second")
                return try PolledX11Source(environment: environment)
            }
        case .none: return nil
        }
    }

    private func record(_ source: any ClipboardSource, _ cancellation: Cancellation) throws {
        while let offer = try source.next(choose, cancellation) {
            do {
                let outcome = try Recorder(store).record(offer)
                if case .full = outcome {
                    Console.report("a copy is not kept: pinned items leave no room for it")
                }
            } catch {
                // The next copy may find room on the disk again.
                Console.report("a copy is not kept: \(error)")
            }
        }
    }

    /// With the present settings. While collecting is paused, a copy is counted without being read.
    private func choose(_ names: [String]) throws -> [String] {
        if store.state.pause.isPaused { return [] }
        return try Recorder(store).filter.names(of: names)
    }
}
