import ClockZones
import Commands
import Essentials
import TerminalText
import UsageState

/// The live screen. Redraws when data, size or options change and when the text would, until the user quits, the
/// terminal is gone or the task is cancelled. Owns the session and closes it.
struct LiveLoop: Sendable {
    let session: TerminalSession
    let zone: ClockZone
    let isColored: Bool
    let now: @Sendable () -> Date
    /// Called when the process or the machine has slept; returns when the daemon has responded since. Until then the
    /// screen says that it was last seen before.
    var verify: @Sendable () async -> Void = {}
    /// Where changes by the user are kept, and where those by other windows come from.
    var files: WindowFiles?

    /// How long the rest of a key's sequence may take after an escape byte.
    private static let escapeDelay = Duration.milliseconds(50)
    /// From a write that the terminal did not accept to the next, in seconds.
    private static let retryInterval: TimeInterval = 2

    private enum Event: Sendable {
        case terminal(TerminalSession.Event)
        case terminalGone
        case data(LiveData)
        /// A window, perhaps another one, has written.
        case filesChanged
        case clock
        /// The daemon has responded since that sleep.
        case verified(since: Date)
        /// Nothing has followed the input that far.
        case pause(inputCount: Int)
    }

    /// - Parameters:
    ///   - state: the window as it begins.
    ///   - data: what to show, the first of it at once.
    func run(state: LiveState, data: some AsyncSequence<LiveData, Never> & Sendable) async {
        defer { session.close() }
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in session.events { continuation.yield(.terminal(event)) }
                continuation.yield(.terminalGone)
            }
            group.addTask {
                for await value in data { continuation.yield(.data(value)) }
            }
            group.addTask {
                guard let files else { return }
                for await _ in files.changes { continuation.yield(.filesChanged) }
            }
            await draw(events, continuation, state: state) { event, work in
                group.addTask {
                    await work()
                    continuation.yield(event)
                }
            }
            continuation.finish()
            group.cancelAll()
        }
    }

    private func draw(
        _ events: AsyncStream<Event>, _ inbox: AsyncStream<Event>.Continuation, state: LiveState,
        report: (Event, _ work: @escaping @Sendable () async -> Void) -> Void
    ) async {
        var parser = KeyParser()
        var state = state
        /// What is in the files.
        var saved = state
        var writer = ScreenWriter(isColored: isColored)
        var wakefulness = Wakefulness()
        var shown: LiveData?
        var unverifiedSince: Date?
        var inputCount = 0
        /// What is on the screen.
        var drawn: (state: LiveState, drawing: Drawing)?
        var order: UsageOrder?
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        for await event in events {
            var needsDrawing = true
            var keys: [Key] = []
            switch event {
            case .terminalGone: return
            case .terminal(.bytes(let bytes)):
                inputCount += 1
                keys = parser.keys(from: bytes)
                if parser.isUndecided {
                    // Cancelled: a key came first.
                    report(.pause(inputCount: inputCount)) { try? await Task.sleep(for: Self.escapeDelay) }
                }
                needsDrawing = false
            case .pause(inputCount):
                keys = parser.endOfInput()
                needsDrawing = false
            case .pause: continue
            case .data(let value):
                needsDrawing = value != shown
                shown = value
            case .filesChanged:
                // Read here, where this window also writes, so that its own event brings nothing back.
                let settings = files?.settings ?? state.settings
                needsDrawing = settings != state.settings
                state.settings = settings
                saved.settings = settings
            case .terminal(.suspendRequested): keys = [.suspend]
            case .terminal(.continued):
                switch session.resume() {
                case .taken: writer.forget()
                case .unchanged: needsDrawing = false
                case .lost: return
                }
            // The size may be the former one again, and the text still have moved.
            case .terminal(.resized): writer.forget()
            case .verified(let start):
                if unverifiedSince == start { unverifiedSince = nil }
            case .clock: break
            }
            for key in keys {
                switch key {
                case .mode(ANSI.synchronizedUpdates, let isSupported):
                    writer.isSynchronized = isSupported
                case .redraw:
                    writer.forget()
                    needsDrawing = true
                case .suspend:
                    guard session.suspend() == .taken else { return }
                    writer.forget()
                    needsDrawing = true
                default:
                    let outcome = state.handle(key) { state in
                        if let drawn, drawn.state == state { return drawn.drawing }
                        return shown.map { frame(of: $0, unverifiedSince, in: state, order).drawing } ?? Drawing()
                    }
                    switch outcome {
                    case .quit: return
                    case .redraw:
                        needsDrawing = true
                        files?.write(state, since: saved)
                        saved = state
                    case .nothing: break
                    }
                }
            }
            let time = now()
            if let start = wakefulness.markAwake(time) {
                unverifiedSince = unverifiedSince ?? start
                report(.verified(since: unverifiedSince ?? start), verify)
                needsDrawing = true
            }
            guard needsDrawing, let shown else { continue }
            let size = session.size
            let (model, drawing) = frame(of: shown, unverifiedSince, in: state, order)
            order = model.usage.order
            drawn = (state, drawing)
            let screen = drawing.screen
            let isWritten = session.write(writer.draw(screen, columns: size.columns, rows: size.rows ?? screen.count))
            if !isWritten { writer.forget() }
            let wake =
                isWritten
                ? wakefulness.nextLook(at: time, change: model.nextChange)
                : time.addingTimeInterval(Self.retryInterval)
            timer?.cancel()
            // By the system's clock, which `now` need not be.
            let end = Date().addingTimeInterval(wake.timeIntervalSince(now()))
            timer = Task {
                await WallClock.sleep(until: end)
                if !Task.isCancelled { inbox.yield(.clock) }
            }
        }
    }

    private func frame(
        of data: LiveData, _ unverifiedSince: Date?, in state: LiveState, _ order: UsageOrder?
    ) -> (model: LiveModel, drawing: Drawing) {
        var data = data
        if let unverifiedSince { data.usage.link = data.usage.link.unverified(since: unverifiedSince) }
        let model = LiveModel(data, now: now(), zone: zone, options: state.options, keeping: order)
        return (model, LiveScreen.drawing(for: model, state: state, size: session.size))
    }
}

/// When the live screen looks at the clock next, and whether it has missed more than it meant to. Pure.
struct Wakefulness: Sendable, Equatable {
    /// The longest time without a look, in seconds: how late a clock that is set back is noticed, and how exactly a
    /// sleep of the machine is known.
    static let longestSleep: TimeInterval = 60
    /// A connection does not survive being unattended for longer: the daemon sends a heartbeat every 15 s, and three
    /// that are missed end it.
    static let tolerance: TimeInterval = 45

    private var last: Date?

    /// Records that the process is awake.
    ///
    /// - Returns: since when it was not, if it has missed anything: the machine slept, or the process was stopped.
    mutating func markAwake(_ now: Date) -> Date? {
        defer { last = now }
        guard let last, now.timeIntervalSince(last) > Self.longestSleep + Self.tolerance else { return nil }
        return last
    }

    /// When to look next, with nothing else happening.
    ///
    /// - Parameter change: when what is shown changes.
    func nextLook(at now: Date, change: Date?) -> Date {
        let latest = now.addingTimeInterval(Self.longestSleep)
        return change.map { min($0, latest) } ?? latest
    }
}
