import ClockZones
import Commands
import Foundation
import TestSupport
import SnapshotModels
import Synchronization
import TerminalText
import Testing
import UsageState

@testable import usage_view

@Suite("The live screen on a terminal", .serialized, .timeLimit(.minutes(5)))
struct LiveLoopTests {
    private static func screen(columns: Int = 80, rows: Int = 24) -> TerminalScreen {
        TerminalScreen(columns: columns, rows: rows) { CellWidth.of($0) }
    }

    private static let start = ANSI.querySynchronizedUpdates + ANSI.clearScreen

    /// The live screen of a stored model, on a terminal that a test types at.
    private struct Loop {
        let terminal: PseudoTerminal
        let before: [UInt32]
        let data: AsyncStream<LiveData>.Continuation
        let running: Task<Void, Never>
        var screen = LiveLoopTests.screen()

        init(
            _ model: ViewModel, now: @escaping @Sendable () -> Date = { Sample.now },
            verify: @escaping @Sendable () async -> Void = {}
        ) throws {
            terminal = try PseudoTerminal()
            before = terminal.settings
            let session = try TerminalSession(input: terminal.program, output: terminal.program, advice: "do not")
            let loop = LiveLoop(
                session: session, zone: .fixed(secondsFromGMT: 0), isColored: false, now: now, verify: verify)
            let (stream, data) = AsyncStream.makeStream(of: LiveData.self)
            data.yield(LiveData(usage: model.data))
            self.data = data
            running = Task { await loop.run(state: LiveState(), data: stream) }
        }

        /// Quits, and expects everything to be as before.
        mutating func quit(_ keys: String = "q") async {
            terminal.type(keys)
            await running.value
            #expect(terminal.settings == before)
            await terminal.show(on: &screen) { !$0.modes.contains(1_049) }
            #expect(screen.modes == [7, 25])
            #expect(screen.unknown.isEmpty)
            terminal.closeBoth()
        }
    }

    @Test("the loop draws its data, responds to keys and restores the terminal at its end")
    func loop() async throws {
        var loop = try Loop(Sample.model("v0-first"))
        await loop.terminal.show(on: &loop.screen, until: "43 % used")
        loop.terminal.type("u")
        await loop.terminal.show(on: &loop.screen, until: "57 % left")
        // A lone escape byte closes the help after a while.
        loop.terminal.type("?")
        await loop.terminal.show(on: &loop.screen, until: "switch between used and left")
        loop.terminal.type("\u{1B}")
        await loop.terminal.show(on: &loop.screen, until: "57 % left")
        await loop.quit("\u{1B}[B\u{1B}q")
    }

    @Test("a change is written in a few bytes, and nothing where nothing changes")
    func bytes() async throws {
        let model = try Sample.model("v0-first")
        var loop = try Loop(model)
        await loop.terminal.show(on: &loop.screen, until: "43 % used")
        loop.data.yield(LiveData(usage: model.data))
        var changed = model.data
        if case .usage(var usage) = changed.stored {
            usage.providers[0].snapshot.primary?.usedPercent += 1
            changed.stored = .usage(usage)
        }
        loop.data.yield(LiveData(usage: changed))
        let bytes = await loop.terminal.wait(toSee: "4")
        #expect(bytes.utf8.count < 40, "\(bytes.debugDescription)")
        loop.screen.apply(bytes)
        #expect(loop.screen.text.contains("44 % used"))
        await loop.quit()
    }

    @Test("the terminal's answer turns synchronized updates on, and Control-L draws everything")
    func synchronized() async throws {
        var loop = try Loop(Sample.model("v0-first"))
        await loop.terminal.show(on: &loop.screen, until: "43 % used")
        #expect(loop.screen.modeQueries == [ANSI.synchronizedUpdates])
        loop.terminal.type("\u{1B}[?2026;2$y\u{C}")
        let bytes = await loop.terminal.wait(toSee: ANSI.endSynchronizedUpdate)
        #expect(bytes.hasPrefix(ANSI.beginSynchronizedUpdate + ANSI.clearScreen))
        #expect(bytes.contains("43 % used"))
        await loop.quit()
    }

    @Test("after a sleep the daemon counts as lost until it has responded")
    func sleep() async throws {
        let minutes = Mutex(0.0)
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        var loop = try Loop(
            Sample.model("v0-first"), now: { minutes.withLock { Sample.now.addingTimeInterval($0 * 60) } },
            verify: { for await _ in answers { break } })
        await loop.terminal.show(on: &loop.screen, until: "just now")
        #expect(!loop.screen.text.contains("Offline"))
        minutes.withLock { $0 = 9.5 }
        loop.terminal.type("u")
        await loop.terminal.show(on: &loop.screen, until: "Offline, daemon last seen 9 min ago")
        answer.yield()
        await loop.terminal.show(on: &loop.screen) { !$0.text.contains("Offline") }
        await loop.quit()
    }

    @Test("names from outside reach the terminal as text")
    func hostile() async throws {
        let name = "\u{1B}]0;owned\u{7}\u{1B}[2J\u{9B}5n\u{202E}evil\r\n\u{85}"
        let snapshot = SyncedUsageSnapshot(
            providers: [
                ProviderUsageSnapshot(
                    providerID: name, providerName: name, accountEmail: name, loginMethod: name,
                    lastUpdated: Sample.now,
                    rateWindows: [SyncRateWindow(usedPercent: 9, windowMinutes: 300, label: name)])
            ], syncTimestamp: Sample.now, deviceName: name)
        var loop = try Loop(Sample.model(stored: .usage(SnapshotMerge.merge([snapshot], now: Sample.now))))
        await loop.terminal.show(on: &loop.screen, until: "9 % used")
        #expect(loop.screen.text.contains("\\u{1B}"))
        await loop.quit()
    }
}
