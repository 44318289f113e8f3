@testable import clip
import Foundation
import KVStoreHTTP
import TestSupport
import Testing

@Suite("Recording what a clipboard offers")
struct RecorderTests {
    private func with(_ body: (Recorder) throws -> Void) throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let store = try HistoryStore(ClipFiles(environment: StoreEnvironment(home: home.path)))
        defer { store.close() }
        try body(Recorder(store))
    }

    private func text(_ text: String) -> Offer { Offer([("text/plain", Data(text.utf8))]) }

    private let clear = Offer(state: .clear, typeNames: [], data: [])

    private func titles(_ recorder: Recorder) -> Set<String> {
        Set(recorder.store.entries().items.values.map { ItemTitle.title(of: $0) })
    }

    @Test("a clipboard that is cleared takes only what was in it from the history")
    func clearing() throws {
        try with { recorder in
            _ = try recorder.record(text("before"))
            _ = try recorder.record(Offer(state: .sensitive, typeNames: [], data: []))
            _ = try recorder.record(clear)
            #expect(titles(recorder) == ["before"])
            _ = try recorder.record(text("password"))
            _ = try recorder.record(text("added by hand"), isClipboard: false)
            _ = try recorder.record(clear)
            #expect(titles(recorder) == ["before", "added by hand"])
        }
    }

    @Test("an owner clears its copy by nothing, an empty text or no types; a second copy of it too")
    func waysToClear() throws {
        for clearing in [clear, text(""), Offer(typeNames: [], data: [])] {
            try with { recorder in
                _ = try recorder.record(text("password"))
                _ = try recorder.record(text("password"))
                _ = try recorder.record(clearing)
                #expect(titles(recorder).isEmpty)
                _ = try recorder.record(text("kept"))
                _ = try recorder.record(Offer(typeNames: ["x/y"], data: []))
                _ = try recorder.record(clearing)
                #expect(titles(recorder) == ["kept"])
                _ = try recorder.record(text("added"), isClipboard: false)
                _ = try recorder.record(text(""), isClipboard: false)
                #expect(titles(recorder) == ["kept", "added"])
            }
        }
    }

    @Test("the copy that is ignored is the next copy, and not the end of one")
    func ignoringTheNext() throws {
        try with { recorder in
            try recorder.store.exclusively { _, state in state.pause.pause(onlyNext: true) }
            _ = try recorder.record(clear)
            #expect(try recorder.record(text("ignored")) == .skipped(.paused))
            _ = try recorder.record(text("kept"))
            #expect(titles(recorder) == ["kept"])
        }
    }

    @Test("what was copied out and then removed is kept when it is copied again")
    func copiedOut() throws {
        try with { recorder in
            guard case .added(let key) = try recorder.record(text("same")) else {
                Issue.record("it was not added")
                return
            }
            try recorder.store.exclusively { entries, state in state.copyOuts.remember(key, at: .now) }
            #expect(try recorder.record(text("same")) == .copiedOut)
            try recorder.store.exclusively { entries, _ in entries = [:] }
            #expect(try recorder.record(text("same")) == .added(key))
        }
    }
}
