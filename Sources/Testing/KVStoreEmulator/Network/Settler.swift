import KVStoreCore
import NIOCore

/// A wait until nothing is under way in a world. On the event loop only, and unchecked for that reason.
final class Settler: @unchecked Sendable {
    let world: String
    private let network: EmulatedNetwork
    private let loop: any EventLoop
    private let quiet: TimeAmount
    private let obstacles: () -> [String]
    private let start = NIODeadline.now()
    private var complete: ((SettlingReport) -> Void)?
    private var deadline: Scheduled<Void>?
    private var calm: Scheduled<Void>?

    /// - Parameters:
    ///   - quiet: how long nothing must happen.
    ///   - obstacles: what is under way, a sentence each.
    init(
        _ world: String, _ network: EmulatedNetwork, on loop: any EventLoop, timeout: TimeAmount, quiet: TimeAmount,
        obstacles: @escaping () -> [String], _ complete: @escaping (SettlingReport) -> Void
    ) {
        self.world = world
        self.network = network
        self.loop = loop
        self.quiet = quiet
        self.obstacles = obstacles
        self.complete = complete
        network.add(self)
        deadline = loop.scheduleTask(in: timeout) { [self] in end() }
        markActive()
    }

    /// Begins the quiet time anew.
    func markActive() {
        calm?.cancel()
        calm = loop.scheduleTask(in: quiet) { [self] in
            // What is under way ends with an activity.
            if obstacles().isEmpty { end(isCalm: true) }
        }
    }

    /// The server stops.
    func stop() { end() }

    private func end(isCalm: Bool = false) {
        guard let complete else { return }
        self.complete = nil
        deadline?.cancel()
        calm?.cancel()
        network.remove(self)
        var waiting = obstacles()
        if waiting.isEmpty, !isCalm {
            waiting = ["something happened within the last \(quiet.nanoseconds / 1_000_000) ms"]
        }
        let elapsed = (NIODeadline.now() - start).nanoseconds / 1_000_000
        complete(SettlingReport(settled: waiting.isEmpty, elapsed: elapsed, waiting: waiting))
    }
}

/// The answer to `POST …/settle`.
struct SettlingReport: Sendable, Equatable, Codable {
    var settled: Bool
    /// Milliseconds.
    var elapsed: Int64
    /// What is under way.
    var waiting: [String]
}
