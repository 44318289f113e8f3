@testable import clip
import Foundation
import StoreTestSupport
import Testing

@Suite("Pins and order")
struct PinAndOrderTests {
    private var history = ClipHistory()
    private var randomness = SeededGenerator(seed: 7)

    /// Named after Maccy's tests of its sorter: three items, each the first by another order.
    init() {
        let items: [(String, Timestamp, Timestamp, UInt32)] = [
            ("last", 1, 9, 1), ("first", 5, 6, 2), ("copies", 2, 7, 3),
        ]
        var stored: [ItemKey: ClipItem] = [:]
        for (text, first, last, count) in items {
            stored[ItemKey(text)] = ClipItem(
                body: .contents(ClipContents(text: text)), origin: .init(device: "desk"),
                firstCopied: first, lastCopied: last, counts: ["desk": count])
        }
        history = ClipHistory(items: stored)
    }

    @Test("by the last copy")
    func testSortByLastCopiedAt() {
        #expect(history.titles(by: .lastCopiedAt) == ["last", "copies", "first"])
    }

    @Test("by the first copy")
    func testSortByFirstCopiedAt() {
        #expect(history.titles(by: .firstCopiedAt) == ["first", "copies", "last"])
    }

    @Test("by the number of copies")
    func testSortByNumberOfCopies() {
        #expect(history.titles(by: .numberOfCopies) == ["copies", "first", "last"])
    }

    @Test("pins come first, in the order that was chosen")
    mutating func testSortByPinToTop() {
        for text in ["first", "copies"] {
            _ = history.togglePin(ItemKey(text), at: 10, using: &randomness)
        }
        #expect(history.titles(pins: .top) == ["copies", "first", "last"])
        #expect(history.titles(by: .firstCopiedAt, pins: .top) == ["first", "copies", "last"])
    }

    @Test("pins come last")
    mutating func testSortByPinToBottom() {
        _ = history.togglePin(ItemKey("last"), at: 10, using: &randomness)
        #expect(history.titles(pins: .bottom) == ["copies", "first", "last"])
    }

    @Test("items are not pinned at first")
    func testUnpinnedByDefault() {
        #expect(history.items.values.allSatisfy { !$0.isPinned })
    }

    @Test("a pin has a letter that is free")
    mutating func testPin() throws {
        let changes = history.togglePin(ItemKey("last"), at: 10, using: &randomness)
        #expect(changes == ClipHistory.Changes(written: [ItemKey("last")]))
        let letter = try #require(history.items[ItemKey("last")]?.pin.pin?.letter)
        #expect(history.pinned(letter) == ItemKey("last"))
        #expect(PinLetter.all.count == 21 && PinLetter("q") == nil && PinLetter("a") == nil)
        let others = Set(PinLetter.all).subtracting([letter])
        let b = try #require(others.first)
        _ = history.togglePin(ItemKey("first"), at: 10, reserved: others.subtracting([b]), using: &randomness)
        #expect(history.items[ItemKey("first")]?.pin.pin == .letter(b))
    }

    @Test("an item is unpinned, also by a clock that is behind")
    mutating func testUnpin() {
        _ = history.togglePin(ItemKey("last"), at: 1_000, using: &randomness)
        let pinned = history
        _ = history.togglePin(ItemKey("last"), at: 5, using: &randomness)
        #expect(history.items[ItemKey("last")]?.isPinned == false)
        let (last, former) = (history.items[ItemKey("last")], pinned.items[ItemKey("last")])
        #expect(former.flatMap { last?.joined($0) }?.isPinned == false)
    }

    @Test("without a free letter items are pinned all the same")
    mutating func testSeveralItemsCanHaveEmptyPin() {
        for text in ["last", "first"] {
            _ = history.togglePin(ItemKey(text), at: 10, reserved: Set(PinLetter.all), using: &randomness)
            #expect(history.items[ItemKey(text)]?.pin.pin == .unlettered)
        }
    }

    @Test("a letter that is given to an item is taken from another, which stays pinned")
    mutating func givenLetter() throws {
        let letter = try #require(PinLetter("k"))
        _ = history.pin(ItemKey("last"), letter, at: 10)
        let changes = history.pin(ItemKey("first"), letter, at: 11)
        #expect(changes.written == [ItemKey("last"), ItemKey("first")])
        #expect(history.items[ItemKey("last")]?.pin.pin == .unlettered)
        #expect(history.pinned(letter) == ItemKey("first"))
    }

    @Test("after a change of the query, the first that is not pinned or the first is selected")
    func initialSelection() {
        #expect(ListSelection.initial(query: "", isPinned: [true, true, false, false]) == 2)
        #expect(ListSelection.initial(query: "x", isPinned: [true, false]) == 0)
        #expect(ListSelection.initial(query: "", isPinned: [true]) == 0)
        #expect(ListSelection.initial(query: "x", isPinned: []) == nil)
    }

    /// Named after Maccy's tests of collections.
    @Test("after a removal the nearest item is selected, the next of two")
    func testNearest() {
        #expect(ListSelection.afterRemoving(1, of: 4) == 1)
        #expect(ListSelection.afterRemoving(3, of: 4) == 2)
        #expect(ListSelection.afterRemoving(0, of: 1) == nil)
        #expect(ListSelection.afterRemoving(9, of: 4) == nil)
    }

    @Test("digits select the first nine that are not pinned")
    func digits() {
        let pins = [true] + Array(repeating: false, count: 10)
        #expect(ListSelection.digits(isPinned: pins) == [nil, 1, 2, 3, 4, 5, 6, 7, 8, 9, nil])
    }
}
