import Commands
import Essentials
import UsageState

/// Waits for what can change a line: new data, a time, or something else. Between them nothing runs.
struct UsageLoop<Other: Sendable>: Sendable {
    enum Event: Sendable {
        case data(UsageData)
        /// The time that the last step asked for has come.
        case time
        case other(Other)
    }

    enum Step: Sendable {
        case wait(until: Date?)
        case end
    }

    /// - Parameters:
    ///   - data: the state, the first of it at once.
    ///   - other: its end does not end the loop.
    ///   - step: called for each event, one after the other.
    func run(
        _ data: some AsyncSequence<UsageData, Never> & Sendable, _ other: AsyncStream<Other>,
        step: (Event) throws -> Step
    ) async throws {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let sources = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await value in data { continuation.yield(.data(value)) } }
                group.addTask { for await value in other { continuation.yield(.other(value)) } }
            }
        }
        var timer: Task<Void, Never>?
        defer {
            sources.cancel()
            timer?.cancel()
        }
        for await event in events {
            timer?.cancel()
            guard case .wait(let date) = try step(event) else { return }
            timer = date.map { date in
                Task {
                    await WallClock.sleep(until: date)
                    if !Task.isCancelled { continuation.yield(.time) }
                }
            }
        }
    }
}
