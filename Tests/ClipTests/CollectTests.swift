@testable import clip
import Foundation
import KVStoreHTTP
import TestSupport
import Testing

/// Once in each kind of session.
@Suite("Collecting", .serialized, .timeLimit(.minutes(2)), .requires(programs: ["python3"]), .sessions([.sway, .xvfb]))
struct CollectTests {
    private let session: ClipboardSession

    init() throws { session = try #require(SessionTrait.session) }

    private func withCollector(
        prepare: (ClipFiles) throws -> Void = { _ in }, _ body: (CollectorRun) async throws -> Void
    ) async throws {
        let collector = try await CollectorRun(session, prepare: prepare)
        do {
            try await body(collector)
        } catch {
            await collector.end()
            throw error
        }
        await collector.end()
    }

    @Test("all types of a copy become one item, of which types that are not kept are dropped")
    func types() async throws {
        try await withCollector { collector in
            let png = Data([0x89, 0x50, 0x4E, 0x47, 0, 0xFF])
            try await collector.copy([
                "text/html": "<b>foo</b>", "UTF8_STRING": "foo «bar»", "text/plain;charset=utf-8": "foo «bar»",
                "image/jpeg": "no", "image/png": .data(png), "application/x-own": "x", "TIMESTAMP": "1",
            ])
            let items = try await collector.items { !$0.isEmpty }
            let expected = ClipContents([.init(.html, "<b>foo</b>"), .init(.text, "foo «bar»"), .init(.png, png)])
            #expect(items.map(\.contents) == [expected])
        }
    }

    @Test("an image, and text whose only name is that of Latin-1, are kept")
    func others() async throws {
        try await withCollector { collector in
            let image = Data((0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try await collector.copy(["image/png": .data(image)])
            let first = try await collector.items { $0.count == 1 }
            let key = ItemKey(of: ClipContents([.init(.png, image)]))
            let device = DeviceSettings()
            let cached = try ContentCache(collector.store.files, device).contents(of: key)
            // Larger than an item may be, so that its bytes are in the cache.
            #expect(first.map(\.contents) == [nil] && cached?[.png] == image)
            try await collector.copy(["STRING": .data(Data([0x61, 0xE9, 0xFF]))])
            #expect(try await collector.items { $0.count == 2 }.last?.text == "aéÿ")
        }
    }

    @Test("what a password manager marks is not in the history, nor in any of its files")
    func secrets() async throws {
        try await withCollector { collector in
            let secret = "s3cret-\(UUID())"
            let marks = ["x-kde-passwordManagerHint", "application/x-copyq-secret"]
            try await collector.copy(["UTF8_STRING": .data(Data(secret.utf8)), marks[0]: "secret"])
            try await collector.wait { $0.skipped["has the ignored type \(marks[0])"] == 1 }
            try await collector.copy([marks[1]: "1", "text/plain;charset=utf-8": .data(Data(secret.utf8))])
            try await collector.wait { $0.skipped["has the ignored type \(marks[1])"] == 1 }
            let windows = "CanIncludeInClipboardHistory"
            try await collector.copy([windows: .data(Data([0, 0, 0, 0])), "UTF8_STRING": .data(Data(secret.utf8))])
            try await collector.wait { $0.skipped["has the ignored type \(windows)"] == 1 }
            #expect(try await collector.textsAfterAnotherCopy().isEmpty)
            #expect(try !isOnDisk(secret, collector.home))
        }
    }

    @Test("what is copied out of the history comes back with equal bytes, and is counted once")
    func ownCopies() async throws {
        try await withCollector { collector in
            try await collector.copy(["UTF8_STRING": "mine"])
            try await collector.items { $0.first?.text == "mine" }
            let part = ClipContents.Part(.text, "mine")
            let key = ItemKey(of: ClipContents([part]))
            try collector.store.change(HistoryLimits()) { history, state in
                state.copyOuts.remember(key, at: .now)
                return (history.countCopy(of: key, on: "here", at: .now), ())
            }
            _ = try ClipboardWriter(environment: session.variables).copy(part)
            #expect(try await collector.textsAfterAnotherCopy() == ["mine"])
            #expect(try await collector.items { _ in true }.first?.copies == 2)
        }
    }

    @Test("white space, unknown types and disabled kinds are left out; a change applies at once")
    func settings() async throws {
        try await withCollector { collector in
            try await collector.copy(["UTF8_STRING": "\n\t "])
            try await collector.wait { $0.skipped["only white space"] == 1 }
            try await collector.copy(["application/x-own": "own"])
            try await collector.wait { $0.skipped["has no type that is kept"] == 1 }
            try await collector.copy(["UTF8_STRING": " ", "text/html": "<hr>"])
            try await collector.items { $0.last?.text == " " }
            try await collector.copy(["UTF8_STRING": "first"])
            try await collector.items { $0.last?.text == "first" }
            try DeviceSettings.update(collector.store.files) { $0.keepsText = false }
            try await collector.copy(["UTF8_STRING": "second"])
            try await collector.wait { $0.skipped["has no type that is kept"] == 2 }
            try await collector.copy(["text/uri-list": "file:///a"])
            try await collector.items { $0.last?.contents?[.files] != nil }
            try DeviceSettings.update(collector.store.files) { $0.keepsText = true }
            #expect(try await collector.textsAfterAnotherCopy() == [" ", "first"])
        }
    }

    @Test("the next copy is ignored, and collecting goes on, if that was asked for")
    func pause() async throws {
        try await withCollector { collector in
            func pause(_ change: (inout PauseState) -> Void) throws {
                try collector.store.change(HistoryLimits()) { _, state in
                    change(&state.pause)
                    return (ClipHistory.Changes(), ())
                }
            }
            try pause { $0.pause(onlyNext: true) }
            try await collector.copy(["UTF8_STRING": "ignored"])
            try await collector.wait { !$0.pause.isPaused }
            #expect(try await collector.textsAfterAnotherCopy().isEmpty)
        }
    }

    @Test("a copy that was there before the collector, and one whose owner is stuck, are no items")
    func noItems() async throws {
        let earlier = try await ClipboardOwner.start(in: session, ["UTF8_STRING": "earlier"])
        try await withCollector { collector in
            try await collector.copy(["UTF8_STRING": .stuck])
            #expect(try await collector.textsAfterAnotherCopy().isEmpty)
        }
        earlier.kill()
    }

    @Test("a program that ends leaves its copy in the history")
    func endOfOwner() async throws {
        try await withCollector { collector in
            try await collector.copy(["UTF8_STRING": "kept"])
            try await collector.items { $0.last?.text == "kept" }
            collector.endOwner()
            #expect(try await collector.textsAfterAnotherCopy() == ["kept"])
        }
    }

    @Test("a user has one collector")
    func single() async throws {
        try await withCollector { collector in
            #expect(Collector.isRunning(collector.store.files))
            let second = try await collector.home.run("clip", ["collect"])
            #expect(second.status == 75)
            #expect(second.errors == "clip: another collector of this user is running already\n")
        }
    }
}

@Suite("The end of a display", .serialized, .timeLimit(.minutes(1)))
struct CollectDisplayEndTests {
    @Test(
        "the collector waits for a display that has ended, and ends on a signal",
        .requires(programs: ["python3"]), arguments: [ClipboardSession.Kind.sway, .xvfb])
    func end(kind: ClipboardSession.Kind) async throws {
        guard kind.isInstalled else { return print("\(kind) is not installed.") }
        let session = try await ClipboardSession(kind)
        let collector = try await CollectorRun(session)
        await session.end()
        var reports = collector.program.errors.makeAsyncIterator()
        let report = await reports.next()
        #expect(report == "clip: the display has closed the connection; trying again")
        await collector.end()
        #expect(!Collector.isRunning(collector.store.files))
    }
}

@Suite("Collecting from X11", .serialized, .timeLimit(.minutes(1)), .sessions([.xvfb]))
struct CollectX11Tests {
    private let session: ClipboardSession

    init() throws { session = try #require(SessionTrait.session) }

    @Test("copies of an ignored application are left out, others have their application")
    func applications() async throws {
        let collector = try await CollectorRun(session) { files in
            try DeviceSettings.update(files) { $0.applications = ["Vault"] }
        }
        try await collector.copy(["WM_CLASS": "Vault", "UTF8_STRING": "ignored"])
        try await collector.wait { $0.skipped["copied in the ignored application Vault"] == 1 }
        try await collector.copy(["WM_CLASS": "Editor", "UTF8_STRING": "kept"])
        let items = try await collector.items { $0.last?.text == "kept" }
        #expect(items.map(\.origin.application) == ["Editor"])
        try DeviceSettings.update(collector.store.files) { $0.keepsOnlyApplications = true }
        try await collector.copy(["WM_CLASS": "Editor", "UTF8_STRING": "ignored"])
        try await collector.wait { $0.skipped["copied in the ignored application Editor"] == 1 }
        try await collector.copy(["WM_CLASS": "Vault", "UTF8_STRING": "kept too"])
        try await collector.items { $0.last?.text == "kept too" && $0.count == 2 }
        await collector.end()
    }

    @Test("an owner that clears the clipboard removes its copy")
    func clear() async throws {
        let collector = try await CollectorRun(session)
        try await collector.copy(["UTF8_STRING": "cleared"])
        try await collector.items { !$0.isEmpty }
        try await collector.copy([:])
        try await collector.items { $0.isEmpty }
        await collector.end()
    }

    @Test("a display that refuses the connection, or is another machine's, is an error")
    func refused() throws {
        var variables = session.variables
        variables["XAUTHORITY"] = "/dev/null"
        #expect {
            try X11Source(environment: variables, Cancellation())
        } throws: {
            "\($0)".hasPrefix("the X11 display refuses the connection: ")
        }
        variables["DISPLAY"] = "localhost:10.0"
        #expect(throws: X11Connection.notLocal) {
            try X11Source(environment: variables, Cancellation())
        }
    }

    @Test("without announcements, a change is found by reading the clipboard")
    func polled() async throws {
        let source = try PolledX11Source(environment: session.variables)
        let earlier = try await ClipboardOwner.start(in: session, ["UTF8_STRING": "earlier"])
        // A cancellation while it reads for the first time ends it after that.
        let cancellation = Cancellation()
        let first = try source.next(
            {
                cancellation.cancel()
                return $0
            }, cancellation)
        #expect(first == nil)
        let owner = try await ClipboardOwner.start(in: session, ["UTF8_STRING": "new"])
        #expect(try source.next({ $0 }, Cancellation())?.data.map(\.data) == [Data("new".utf8)])
        earlier.kill()
        owner.kill()
    }
}

@Suite("Copies that wl-paste announces", .serialized, .timeLimit(.minutes(1)), .sessions([.sway]))
struct CollectStoreCommandTests {
    @Test("'clip store' keeps what wl-paste announces, but not what is marked")
    func announced() async throws {
        let session = try #require(SessionTrait.session)
        let home = try session.newHome()
        defer { home.remove() }
        let secret = "s3cret-\(UUID())"
        func store(_ input: String, state: String? = nil) async throws {
            var home = home
            home.variables["CLIPBOARD_STATE"] = state
            let outcome = try await home.run("clip", ["store"], input: Data(input.utf8))
            #expect(outcome.status == 0 && outcome.errors.isEmpty)
        }
        let history = try HistoryStore(ClipFiles(environment: StoreEnvironment(home: home.path)), isWatched: true)
        defer { history.close() }
        var owner = try await ClipboardOwner.start(
            in: session, ["text/plain": .data(Data(secret.utf8)), "x-kde-passwordManagerHint": "secret"])
        try await store(secret)
        owner = try await ClipboardOwner.start(in: session, ["text/plain": "foo"])
        try await store("foo", state: "sensitive")
        try await store("another copy")
        #expect(history.entries().isEmpty)
        #expect(
            history.state.skipped == [
                "has the ignored type x-kde-passwordManagerHint": 1, "marked as sensitive": 1,
                "the clipboard changed while it was read": 1,
            ])
        let changes = history.changes
        let program = try #require(TemporaryHome.program("clip")).path
        let watch = try SessionProcess(home, ["wl-paste", "--watch", program, "store"])
        owner = try await ClipboardOwner.start(in: session, ["text/plain": "kept", "text/html": "<i>kept</i>"])
        let expected = ClipContents([.init(.html, "<i>kept</i>"), .init(.text, "kept")])
        for await _ in changes
        where history.entries().values.contains(where: { $0.item?.contents == expected }) { break }
        #expect(try !history.entries().isEmpty && !isOnDisk(secret, home))
        watch.kill()
        owner.kill()
    }
}
