@testable import clip
import Foundation
import KVStoreHTTP
import TestSupport
import Testing

@Suite("What an import makes of the history")
struct ImportRuleTests {
    private let home: ImportHome

    init() throws { home = try ImportHome() }

    /// The newest first.
    private static func imported(_ items: [ImportedItem]) -> ImportedItems {
        items.reduce(into: ImportedItems()) { $0.append($1) }
    }

    private static func item(
        _ text: String, at time: Int64? = nil, copies: Int = 1, pin: PinState.Pin? = nil
    ) -> ImportedItem {
        let time = time.map { Timestamp(milliseconds: $0) }
        return ImportedItem(
            offer: Offer([("text/plain", Data(text.utf8))]), first: time, last: time, copies: copies, pin: pin)
    }

    private static func letter(_ character: Character) -> PinState.Pin { .letter(PinLetter(character)!) }

    private static let time = Timestamp(milliseconds: 1_760_000_000_000)

    private func add(
        _ items: [ImportedItem], to store: HistoryStore, isDryRun: Bool = false
    ) throws -> HistoryImport.Summary {
        try HistoryImport(recorder: Recorder(store)).add(Self.imported(items), writtenAt: Self.time, isDryRun: isDryRun)
    }

    @Test("a dry run prints the same and leaves the history as it is")
    func dryRun() throws {
        try home.withStore { store in
            let items = (0..<300).map { Self.item("text \($0)") }
            let expected = HistoryImport.Summary(read: 300, added: 200, leftOut: 100)
            let dryRun = try add(items, to: store, isDryRun: true)
            #expect(dryRun == expected)
            #expect(store.entries().isEmpty)
            let summary = try add(items, to: store)
            #expect(summary == expected)
            #expect(store.entries().count == 200)
        }
    }

    @Test("older items of the history go for newer ones of the import, and are counted")
    func removal() throws {
        try home.withStore { store in
            let old = (0..<150).map { Self.item("old \($0)", at: 1_000_000 - Int64($0)) }
            _ = try add(old, to: store)
            let summary = try add((0..<100).map { Self.item("new \($0)") }, to: store)
            #expect(summary == .init(read: 100, added: 100, removed: 50))
            #expect(store.entries().count == 200)
        }
    }

    @Test("copies of an item that is there are the larger count, not the sum")
    func counts() throws {
        try home.withStore { store in
            let recorder = try Recorder(store)
            for _ in 0..<3 { _ = try recorder.record(Offer([("text/plain", Data("x".utf8))])) }
            for copies in [2, 5, 5] {
                #expect(
                    try add([Self.item("x", at: 1_000, copies: copies)], to: store)
                        == .init(read: 1, alreadyThere: 1))
            }
            let item = try #require(store.history(HistoryLimits()).items.values.first)
            #expect(item.copyCount == 5)
            #expect(item.firstCopied.milliseconds == 1_000)
        }
    }

    @Test("a letter that is taken stays with its item, and a pin removed here stays removed")
    func pins() throws {
        try home.withStore { store in
            _ = try add([Self.item("first", pin: Self.letter("b"))], to: store)
            let items = [
                Self.item("second", pin: Self.letter("b")), Self.item("third", pin: .unlettered),
                Self.item("fourth", pin: Self.letter("c")),
            ]
            _ = try add(items, to: store)
            func pins() -> [String: PinState.Pin?] {
                let items = store.history(HistoryLimits()).items.values
                return Dictionary(uniqueKeysWithValues: items.map { ($0.contents!.text(.text)!, $0.pin.pin) })
            }
            var expected: [String: PinState.Pin?] = [
                "first": Self.letter("b"), "second": .unlettered, "third": .unlettered, "fourth": Self.letter("c"),
            ]
            #expect(pins() == expected)
            let key = ItemKey(of: ClipContents(text: "fourth"))
            try store.change(HistoryLimits()) { history, _ in
                var randomness = SystemRandomNumberGenerator()
                return (history.togglePin(key, at: .now, using: &randomness), ())
            }
            _ = try add(items, to: store)
            expected["fourth"] = .some(nil)
            #expect(pins() == expected)
        }
    }

    @Test("pins for which there is no room are left out, the oldest, and others stay")
    func fullOfPins() throws {
        try home.withStore { store in
            _ = try add([Self.item("pinned before", at: 1_000, pin: .unlettered)], to: store)
            let padding = String(repeating: "pinned ", count: 2_000)
            let items = (0..<120).map { Self.item("\($0) " + padding, pin: .unlettered) }
            let summary = try add(items, to: store)
            #expect(summary.added > 40 && summary.notFitting > 40)
            #expect(summary.added + summary.notFitting == 120)
            let history = store.history(try Recorder(store).settings.limits)
            #expect(history.byteCount <= history.limits.byteLimit)
            let texts = history.items.values.compactMap { $0.contents?.text(.text) }
            #expect(texts.contains("pinned before"))
            #expect(texts.contains { $0.hasPrefix("0 ") } && !texts.contains { $0.hasPrefix("119 ") })
            let again = try add(items, to: store)
            #expect(again.alreadyThere == summary.added)
            #expect(again.notFitting == summary.notFitting)
            #expect(store.history(history.limits).items == history.items)
        }
    }

    @Test("items over the limit are stubs whose contents this machine has")
    func stubs() throws {
        try home.withStore { store in
            let text = String(repeating: "long ", count: 10_000)
            #expect(try add([Self.item(text)], to: store).added == 1)
            let (key, item) = try #require(store.history(HistoryLimits()).items.first)
            #expect(item.contents == nil && item.origin.title?.hasPrefix("long ") == true)
            let cache = ContentCache(store.files, DeviceSettings())
            #expect(try cache.contents(of: key)?.text(.text) == text)
            #expect(try add([Self.item(text)], to: store) == .init(read: 1, alreadyThere: 1))
        }
    }

    @Test("a time that cannot be counts as none")
    func times() throws {
        try home.withStore { store in
            _ = try add([Self.item("of the future", at: .max), Self.item("x", at: .min)], to: store)
            let times = store.history(HistoryLimits()).items.values.map(\.lastCopied).sorted()
            #expect(times == [Timestamp(milliseconds: Self.time.milliseconds - 1), Self.time])
        }
    }

    @Test("the older and poorer copy of an item joins the newer and richer one")
    func joining() throws {
        try home.withStore { store in
            var rich = Self.item("both", at: 2_000)
            rich.offer = Offer([("text/plain", Data("both".utf8)), ("text/html", Data("<b>both</b>".utf8))])
            let items = [rich, Self.item("both", at: 1_000)]
            #expect(try add(items, to: store) == .init(read: 2, added: 1, alreadyThere: 1))
            #expect(try add(items, to: store) == .init(read: 2, alreadyThere: 2))
            let item = try #require(store.history(HistoryLimits()).items.values.first)
            #expect(item.firstCopied.milliseconds == 1_000 && item.lastCopied.milliseconds == 2_000)
        }
    }
}
