import ClockZones
import Commands
import Dispatch
import Essentials
import KVStoreEssentials
import TerminalText
import UsageState

/// `usage-view wait`: asleep until new numbers, the reset, the deadline or a signal.
struct UsageWaiter {
    enum Outcome: Sendable, Equatable {
        case reached
        case timedOut
        /// By the signal of this number.
        case interrupted(Int32)
        case unknown(String)
    }

    var wait: UsageWait
    let selection: UsageSelection
    /// Nil waits as long as it takes.
    let deadline: Date?
    /// On standard error, which is a terminal.
    let showsProgress: Bool

    /// How long to wait at first for the daemon's newer numbers, in seconds.
    private static let firstRefresh = 2.0

    /// Ends with SIGINT and SIGTERM too.
    func run(_ reader: UsageReader) async throws -> Outcome {
        try await run(reader, signals: SignalArrivals.numbers(of: [SIGINT, SIGTERM]))
    }

    /// - Parameter signals: their numbers, each of which ends the wait.
    func run(_ reader: UsageReader, signals: AsyncStream<Int32>) async throws -> Outcome {
        _ = await reader.refreshed(within: Self.firstRefresh)
        let progress = ProgressLine(isShown: showsProgress)
        defer { progress.erase() }
        let data = UsageData.following(reader.store.connectionChanges, reader.store.changes) {
            reader.data(isOnline: reader.isOnline)
        }
        return try await run(data, signals: signals, progress: progress)
    }

    private func run(
        _ data: some AsyncSequence<UsageData, Never> & Sendable, signals: AsyncStream<Int32>, progress: ProgressLine
    ) async throws -> Outcome {
        var wait = wait
        var present: UsageData?
        var outcome = Outcome.timedOut
        try await UsageLoop<Int32>().run(data, signals) { event in
            switch event {
            case .data(let data): present = data
            case .time: break
            case .other(let number):
                outcome = .interrupted(number)
                return .end
            }
            guard let present else { return .wait(until: deadline) }
            let model = ViewModel(data: present, now: Date(), zone: .local)
            switch wait.progress(model, selection: selection) {
            case .reached: outcome = .reached
            case .unknown(let reason): outcome = .unknown(reason)
            case .waiting(let item, let next):
                if let deadline, deadline <= model.now { return .end }
                let change = progress.show(item, model: model)
                return .wait(until: [next, deadline, change].compactMap { $0 }.min())
            }
            return .end
        }
        return outcome
    }
}

/// One line on standard error that replaces itself.
private struct ProgressLine {
    let isShown: Bool

    /// Returns when it changes by itself; nil if it is not shown.
    func show(_ item: UsageItem, model: ViewModel) -> Date? {
        guard isShown else { return nil }
        let text = StatusText(line: UsageLine(model), measure: model.options.measure, times: model.times)
        let columns = Descriptor.terminalSize(of: STDERR_FILENO)?.columns ?? 80
        let line = StyledLine("waiting: ").appending(text.styled(item).plainText)
            .truncated(toCells: max(1, columns - 1))
        Console.note(ANSI.replacingLine(line), terminator: "")
        return item.nextChange(after: model.now)
    }

    func erase() {
        if isShown { Console.note(ANSI.replacingLine(StyledLine()), terminator: "") }
    }
}
