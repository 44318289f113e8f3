import Commands
import Essentials
import KVStoreEssentials
import UsageState

/// `usage-view status --follow`: a line at once and whenever it changes, until the reader has closed the pipe.
struct StatusFollower {
    var renderer: StatusRenderer
    let usage: LocalUsage

    private enum Input: Sendable {
        case click(I3BarClick)
        case readerIsGone
        /// tmux draws a line that comes in the second in which it has started the program only after its
        /// `status-interval`.
        case repetition
    }

    /// After a start, until tmux draws what it gets.
    private static let repetitionDelay = Duration.milliseconds(1_100)

    private var isI3Bar: Bool { renderer.format == .named(.i3bar) }

    func run() async throws {
        if isI3Bar { try Console.print(I3BarBlocks.header) }
        let store: UbiquitousKeyValueStore
        do throws(StoreError) {
            store = try usage.open()
        } catch {
            let now = Date()
            try print(renderer.line(usage.read(now: now), now: now).text)
            return Console.report(error.description)
        }
        defer { store.close() }
        try await follow(usage.live(store))
    }

    private func follow(_ data: some AsyncSequence<UsageData, Never> & Sendable) async throws {
        let (inputs, input) = AsyncStream.makeStream(of: Input.self)
        Descriptor.whenReaderIsGone(from: STDOUT_FILENO) { input.yield(.readerIsGone) }
        let clicks = Task { [isI3Bar] in
            guard isI3Bar else { return }
            for await line in InputLines(limit: 4_096) {
                if let click = line.flatMap({ I3BarClick(line: $0) }) { input.yield(.click(click)) }
            }
        }
        let repeating = Task { [isTmux = renderer.format == .named(.tmux)] in
            guard isTmux, (try? await Task.sleep(for: Self.repetitionDelay)) != nil else { return }  // Cancelled.
            input.yield(.repetition)
        }
        defer {
            clicks.cancel()
            repeating.cancel()
        }
        var renderer = renderer
        var present: UsageData?
        var printed: String?
        try await UsageLoop<Input>().run(data, inputs) { event in
            let now = Date()
            switch event {
            case .data(let data): present = data
            case .time: break
            case .other(.readerIsGone): return .end
            case .other(.repetition): printed = nil
            case .other(.click(let click)):
                guard let present else { break }
                renderer.choice.handle(click, providers: renderer.providers(present, now: now))
            }
            guard let present else { return .wait(until: nil) }
            let line = try renderer.line(present, now: now)
            if line.text != printed { try print(line.text) }
            printed = line.text
            return .wait(until: line.nextChange)
        }
    }

    private func print(_ line: String) throws {
        try Console.print(isI3Bar ? line + "," : line)
    }
}
