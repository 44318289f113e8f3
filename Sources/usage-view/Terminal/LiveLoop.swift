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
        case data(UsageData)
        case minute
    }

    /// - Parameter data: the state to show, the first of it at once.
    func run(
        options: ViewOptions, data: some AsyncSequence<UsageData, Never> & Sendable
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
            await draw(events, options: options)
            continuation.finish()
            group.cancelAll()
        }
    }

    private func draw(_ events: AsyncStream<Event>, options: ViewOptions) async {
        var parser = KeyParser()
        var state = LiveState(options: options)
        var shown: UsageData?
        for await event in events {
            switch event {
            case .terminalGone:
                return
            case .terminal(.bytes(let bytes)):
                let keys = parser.keys(from: bytes) + parser.endOfInput()
                let outcomes = keys.map { state.handle($0) }
                if outcomes.contains(.quit) { return }
                guard outcomes.contains(.redraw) else { continue }
            case .data(let value):
                guard value != shown else { continue }
                shown = value
            case .terminal(.resized), .minute:
                break
            }
            guard let shown else { continue }
            let model = ViewModel(data: shown, now: now(), zone: zone, options: state.options)
            let screen = LiveScreen.screen(for: model, state: &state, size: session.size)
            session.write(ANSI.frame(screen, isColored: isColored))
        }
    }
}
