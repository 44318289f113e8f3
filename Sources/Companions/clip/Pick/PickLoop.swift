import Commands
import Essentials
import TerminalText

/// `clip pick` on a terminal. Redraws after keys, changes of the history by other processes and of the size, until the
/// user copies or leaves, the terminal is gone or the task is cancelled. Closes the session.
struct PickLoop {
    let session: TerminalSession
    let opened: OpenedHistory
    let isColored: Bool
    let isUnicode: Bool
    let isPlain: Bool
    /// Copies an item and returns what to say of it; nil to leave that to the caller.
    let copy: ((ItemKey, _ isPlain: Bool) throws -> String)?

    enum Ending {
        case left
        case copied(report: String)
        case chosen(ItemKey, isPlain: Bool)
    }

    private var store: HistoryStore { opened.store }

    private enum Event: Sendable {
        case terminal(TerminalSession.Event)
        case terminalGone
        case historyChanged
        /// Newer items of other machines are there; or why not.
        case exchanged(failure: String?)
        /// No more of the input has followed.
        case pause(inputCount: Int)
    }

    /// How long the rest of a key's sequence may take after an escape byte.
    private static let escapeDelay = Duration.milliseconds(50)

    func run() async -> Ending {
        defer { session.close() }
        let (events, inbox) = AsyncStream.makeStream(of: Event.self)
        let (input, changes) = (session.events, store.changes)
        let exchange = opened.exchange
        let tasks = [
            Task {
                guard exchange.isNeeded else { return }
                inbox.yield(.exchanged(failure: await exchange.whileReading()))
            },
            Task {
                for await event in input { inbox.yield(.terminal(event)) }
                inbox.yield(.terminalGone)
            },
            Task { for await _ in changes { inbox.yield(.historyChanged) } },
        ]
        defer { for task in tasks { task.cancel() } }
        return await withTaskCancellationHandler {
            await draw(events, inbox)
        } onCancel: {
            inbox.finish()
        }
    }

    private func draw(_ events: AsyncStream<Event>, _ inbox: AsyncStream<Event>.Continuation) async -> Ending {
        var state = PickState(settings: opened.settings, isPlain: isPlain, timer: MatchTimer(ContinuousClock()))
        var writer = ScreenWriter(isColored: isColored)
        var parser = KeyParser(isChorded: true)
        var inputCount = 0
        load(&state)
        write(&state, &writer)
        for await event in events {
            var keys: [Key] = []
            switch event {
            case .terminalGone: return .left
            case .terminal(.bytes(let bytes)):
                inputCount += 1
                keys = parser.keys(from: bytes)
                if parser.isUndecided {
                    Task { [inputCount] in
                        try? await Task.sleep(for: Self.escapeDelay)  // Ends early with the task.
                        inbox.yield(.pause(inputCount: inputCount))
                    }
                }
            case .pause(inputCount): keys = parser.endOfInput()
            case .pause: continue
            case .historyChanged: load(&state)
            case .exchanged(let failure):
                load(&state)
                state.message = failure
                writer.forget()
            case .terminal(.suspendRequested): keys = [.suspend]
            case .terminal(.continued):
                switch session.resume() {
                case .taken: writer.forget()
                case .unchanged: continue
                case .lost: return .left
                }
            case .terminal(.resized): writer.forget()
            }
            for key in keys {
                switch key {
                case .mode(ANSI.synchronizedUpdates, let isSupported): writer.isSynchronized = isSupported
                case .redraw: writer.forget()
                case .suspend:
                    guard session.suspend() == .taken else { return .left }
                    writer.forget()
                default:
                    let outcome = state.handle(key)
                    if let ending = perform(outcome, &state) { return ending }
                }
            }
            write(&state, &writer)
        }
        return .left
    }

    private func write(_ state: inout PickState, _ writer: inout ScreenWriter) {
        let size = session.size
        if size != state.size { state.size = size }
        var lines = PickScreen(state: state, now: Date(), isColored: isColored).lines
        if !isUnicode { lines = lines.map(\.inASCII) }
        let text = writer.draw(lines, columns: size.columns, rows: size.rows ?? lines.count)
        if !session.write(text) { writer.forget() }
        // After what the user waits for.
        state.prepareSearch()
    }

    private func load(_ state: inout PickState) {
        let history = opened.history
        var local: Set<ItemKey> = []
        if history.items.values.contains(where: { $0.contents == nil }) {
            local = ContentCache(store.files, opened.device).keys
        }
        state.show(history, localContents: local)
    }

    // MARK: What keys do

    /// - Returns: how it ends; nil to go on.
    private func perform(_ outcome: PickState.Outcome, _ state: inout PickState) -> Ending? {
        do {
            switch outcome {
            case .draw: return nil
            case .leave: return .left
            case .copy(let key, let isPlain): return try copied(key, isPlain)
            case .add(let text):
                guard let key = try add(text, &state) else { return nil }
                return try copied(key, isPlain)
            case .delete(let key): try change { $0.remove([key]) }
            case .togglePin(let key):
                var randomness = SystemRandomNumberGenerator()
                try change { $0.togglePin(key, at: .now, using: &randomness) }
            case .clear(let withPins): try change { $0.clear(withPins: withPins) }
            }
        } catch {
            state.message = (error as? CommandFailure)?.message ?? "\(error)"
        }
        load(&state)
        return nil
    }

    private func copied(_ key: ItemKey, _ isPlain: Bool) throws -> Ending {
        guard let copy else { return .chosen(key, isPlain: isPlain) }
        return .copied(report: try copy(key, isPlain))
    }

    private func change(_ edit: (inout ClipHistory) -> ClipHistory.Changes) throws {
        try store.change(opened.settings.limits) { history, _ in (edit(&history), ()) }
    }

    private func add(_ text: String, _ state: inout PickState) throws -> ItemKey? {
        let offer = Offer([(ContentType.text.rawValue, Data(text.utf8))])
        switch try Recorder(store, opened.settings, opened.device).record(offer, isClipboard: false)
        {
        case .added(let key), .counted(let key): return key
        // It has been copied from here a moment ago.
        case .copiedOut: return ItemKey(of: ClipContents(text: text))
        case .skipped(let reason): state.message = "not copied: \(reason)"
        case .full: state.message = "not copied: pinned items leave no room for it"
        }
        load(&state)
        return nil
    }
}
