import Essentials
import TerminalText
import UsageState

/// The live screen. Redraws when data, size or options change and every minute, until the user quits, the
/// terminal is gone or the task is cancelled. Owns the session and closes it.
struct LiveLoop: Sendable {
    let session: TerminalSession
    let zone: ClockZone
    let isColored: Bool
    let now: @Sendable () -> Date

    private enum Event: Sendable {
        case terminal(TerminalSession.Event)
        case terminalGone
        case data(LiveData)
        case minute
    }

    /// - Parameters:
    ///   - state: the window as it begins.
    ///   - data: what to show, the first of it at once.
    ///   - save: called with the state after each change by the user.
    func run(
        state: LiveState, data: some AsyncSequence<LiveData, Never> & Sendable,
        save: (LiveState) -> Void = { _ in }
    ) async {
        defer { session.close() }
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in session.events { continuation.yield(.terminal(event)) }
                continuation.yield(.terminalGone)
            }
            group.addTask {
                for await value in data { continuation.yield(.data(value)) }
            }
            group.addTask {
                while !Task.isCancelled {
                    let past = now().timeIntervalSince1970.truncatingRemainder(dividingBy: 60)
                    try? await Task.sleep(for: .seconds(60 - past))
                    continuation.yield(.minute)
                }
            }
            await draw(events, state: state, save: save)
            continuation.finish()
            group.cancelAll()
        }
    }

    private func draw(
        _ events: AsyncStream<Event>, state: LiveState, save: (LiveState) -> Void
    ) async {
        var parser = KeyParser()
        var state = state
        var shown: LiveData?
        for await event in events {
            switch event {
            case .terminalGone:
                return
            case .terminal(.bytes(let bytes)):
                let keys = parser.keys(from: bytes) + parser.endOfInput()
                let outcomes = keys.map { key in
                    state.handle(key) { drawing(of: shown, in: $0) }
                }
                if outcomes.contains(.quit) { return }
                guard outcomes.contains(.redraw) else { continue }
                save(state)
            case .data(let value):
                guard value != shown else { continue }
                shown = value
            case .terminal(.resized), .minute:
                break
            }
            guard let shown else { continue }
            let screen = drawing(of: shown, in: state).screen
            session.write(ANSI.frame(screen, isColored: isColored))
        }
    }

    private func drawing(of data: LiveData?, in state: LiveState) -> Drawing {
        guard let data else { return Drawing() }
        let model = LiveModel(data, now: now(), zone: zone, options: state.options)
        return LiveScreen.drawing(for: model, state: state, size: session.size)
    }
}
