import ClockZones
import Commands
import Essentials
import KVStoreEssentials
import UsageState

/// Reads requests, usage and the clock for an `MCPSession`. Requests are answered one after the other, and nothing more
/// is read from a client that does not read its answers; only waits go on beside them.
actor MCPServer {
    private let reading: ReadingOptions
    private var session = MCPSession()
    private var waits: [MCPMessage.ID: Task<Void, Never>] = [:]

    /// Each has a connection to the daemon.
    private static let waitLimit = 16

    init(_ reading: ReadingOptions) { self.reading = reading }

    /// Returns at the end of standard input.
    func run() async throws {
        for await line in InputLines(limit: MCPSession.lineLimit) {
            switch session.receive(line) {
            case .answer(let answer): try write(answer)
            case .read(let call): try write(await Self.answer(call, reading))
            case .wait(let call): try start(call)
            case .cancel(let id): waits.removeValue(forKey: id)?.cancel()
            case nil: break
            }
        }
    }

    private func write(_ answer: MCPAnswer) throws { try Console.printJSON(answer) }

    private func start(_ call: MCPCall) throws {
        guard waits[call.id] == nil else {
            return try write(
                MCPAnswer(isModern: call.isModern, content: .error(.request("a request with this id is running"))))
        }
        guard waits.count < Self.waitLimit else {
            return try write(call.failure("\(Self.waitLimit) waits are running: cancel one, or call again later"))
        }
        waits[call.id] = Task {
            let answer = await Self.answer(call, reading)
            guard !Task.isCancelled else { return }
            waits[call.id] = nil
            // To a client that is gone, which the next line says too.
            try? write(answer)
        }
    }

    private static func answer(_ call: MCPCall, _ reading: ReadingOptions) async -> MCPAnswer {
        do {
            let isWait = call.tool == .wait
            // Opened each time, so that what other programs have written is there and nothing is held between requests.
            let reader = try reading.open(isLive: isWait)
            defer { reader.store.close() }
            let outcome =
                isWait
                ? try await UsageWaiter(
                    wait: .reset(UsageWait.ResetGoal()), selection: call.selection,
                    deadline: Date().addingTimeInterval(Double(call.seconds)), showsProgress: false
                ).run(reader, signals: AsyncStream { $0.finish() }) : nil
            let data = isWait ? reader.data(isOnline: reader.isOnline) : await reader.refreshed(within: reading.timeout)
            return call.answer(data, now: Date(), zone: .local, outcome: outcome)
        } catch {
            return call.failure("\(error)")
        }
    }
}
