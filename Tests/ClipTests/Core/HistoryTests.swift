@testable import clip
import Foundation
import StoreTestSupport
import Testing

/// Named after Maccy's tests of its history.
@Suite("History")
struct HistoryTests {
    private var history = ClipHistory()

    private mutating func pin(_ text: String, at time: Timestamp = 100, seed: UInt64 = 1) {
        var randomness = SeededGenerator(seed: seed)
        _ = history.togglePin(ItemKey(text), at: time, using: &randomness)
    }

    @Test("a new history is empty")
    func testDefaultIsEmpty() {
        #expect(history.items.isEmpty && history.sorted().isEmpty && history.byteCount == 0)
    }

    @Test("the last copy comes first")
    mutating func testAdding() {
        let addition = history.add("foo", at: 1)
        #expect(addition == .added(ClipHistory.Changes(written: [ItemKey("foo")])))
        history.add("bar", at: 2)
        #expect(history.titles() == ["bar", "foo"])
    }

    @Test("a copy of a stored item counts, and keeps its first time, pin and application")
    mutating func testAddingPersistedDuplicate() throws {
        let contents = ClipContents(text: "foo")
        let stored = ItemByteLimit().item(of: contents, on: "laptop", application: "editor", at: 1)
        history = ClipHistory(items: [ItemKey(contents): stored])
        pin("foo")
        history.add("bar", at: 2)
        let copy = ItemByteLimit().item(of: contents, on: "desk", application: "browser", at: 3)
        let addition = history.add(copy, ItemKey(contents), contents: contents)
        let changes = ClipHistory.Changes(written: [ItemKey("foo")])
        #expect(addition == .counted(ItemKey("foo"), changes))
        let item = try #require(history.items[ItemKey("foo")])
        #expect(item.firstCopied == 1 && item.lastCopied == 3 && item.isPinned)
        #expect(item.origin.application == "editor" && item.origin.device == "laptop")
        #expect(item.copyCount == 2 && item.counts == ["laptop": 1, "desk": 1])
    }

    @Test("a copy of an item that was just added counts")
    mutating func testAddingUnsavedDuplicate() {
        history.add("foo", at: 1)
        history.add("bar", at: 2)
        history.add("foo", at: 3)
        #expect(history.titles() == ["foo", "bar"])
        #expect(history.items[ItemKey("foo")]?.counts == ["desk": 2])
    }

    @Test("a copy with fewer types counts as the richer item; a richer copy is another item")
    mutating func testAddingItemThatIsSupersededByExisting() {
        let rich = ClipContents([.init(.text, "one"), .init(.html, "<b>one</b>")])
        history.add(rich, at: 1)
        history.add("one", at: 2)
        #expect(history.items.count == 1 && history.items[ItemKey(rich)]?.copyCount == 2)
        history.add("two", at: 3)
        history.add(ClipContents([.init(.text, "two"), .init(.html, "<b>two</b>")]), at: 4)
        #expect(history.titles() == ["two", "two", "one"])
    }

    @Test("copies that differ in a marker alone are one item")
    mutating func testAddingItemWithDifferentModifiedType() {
        let marker = ContentType(rawValue: "x.nspasteboard.ModifiedType")
        for (time, mark) in ["1", "2"].enumerated() {
            let contents = ClipContents([.init(.text, "foo"), .init(marker, mark)])
            history.add(contents, at: Timestamp(milliseconds: Int64(time)))
        }
        #expect(history.items.count == 1 && history.items.values.first?.copyCount == 2)
    }

    @Test("what comes back from a copy out of the history counts as a copy of the item")
    mutating func testAddingItemFromMaccy() {
        history.add("foo", at: 1)
        history.add("bar", at: 2)
        var recent = RecentCopyOuts()
        recent.remember(ItemKey("foo"), at: 3)
        #expect(recent.contains(ItemKey("foo"), at: 10_003))
        #expect(!recent.contains(ItemKey("foo"), at: 10_004))
        #expect(!recent.contains(ItemKey("bar"), at: 4))
        _ = history.countCopy(of: ItemKey("foo"), on: "desk", at: 4)
        #expect(history.titles() == ["foo", "bar"] && history.items.count == 2)
    }

    @Test("a copy of markers alone is no item, where every item would supersede it")
    mutating func onlyMarkers() {
        history.add("foo", at: 1)
        let markers = ClipContents([.init(ContentType(rawValue: "TIMESTAMP"), "7")])
        #expect(history.add(markers, at: 2) == .empty)
        #expect(!ClipContents(text: "foo").supersede(markers))
        #expect(history.items[ItemKey("foo")]?.copyCount == 1 && history.items.count == 1)
    }

    @Test("clearing keeps pins")
    mutating func testClearingUnpinned() {
        history.add("foo", at: 1)
        history.add("bar", at: 2)
        pin("foo")
        let changes = history.clear()
        #expect(changes == ClipHistory.Changes(removed: [ItemKey("bar")]))
        #expect(history.titles() == ["foo"])
    }

    @Test("clearing everything removes pins too")
    mutating func testClearingAll() {
        history.add("foo", at: 1)
        history.add("bar", at: 2)
        pin("foo")
        #expect(history.clear(withPins: true).removed.count == 2)
        #expect(history.items.isEmpty && history.byteCount == 0)
    }

    @Test("at its size, the history loses the item that was copied the longest ago")
    mutating func testMaxSize() {
        history = ClipHistory(limits: HistoryLimits(size: 10))
        for number in 0...10 { history.add("\(number)", at: Timestamp(milliseconds: Int64(number))) }
        #expect(history.items.count == 10)
        #expect(history.titles().first == "10" && history.items[ItemKey("0")] == nil)
    }

    @Test("a new copy stays also where many are ordered before it")
    mutating func evictionOrder() {
        history = ClipHistory(limits: HistoryLimits(size: 2))
        for (time, text) in ["a", "a", "b", "b", "c"].enumerated() {
            history.add(text, at: Timestamp(milliseconds: Int64(time)))
        }
        #expect(history.titles(by: .numberOfCopies) == ["b", "c"])
    }

    @Test("pins do not count for the size")
    mutating func testMaxSizeIgnoresPinned() {
        history = ClipHistory(limits: HistoryLimits(size: 10))
        history.add("pinned", at: 0)
        pin("pinned")
        for number in 1...11 { history.add("\(number)", at: Timestamp(milliseconds: Int64(number))) }
        #expect(history.items.count == 11)
        #expect(history.titles().first == "pinned" && history.items[ItemKey("1")] == nil)
    }

    @Test("a smaller size trims at once")
    mutating func testMaxSizeIsChanged() {
        for number in 0...10 { history.add("\(number)", at: Timestamp(milliseconds: Int64(number))) }
        history = ClipHistory(items: history.items, limits: HistoryLimits(size: 5))
        let changes = history.trim()
        #expect(changes.dropped.count == 6)
        #expect(history.titles() == ["10", "9", "8", "7", "6"])
        #expect(HistoryLimits(size: 0).size == 1 && HistoryLimits(size: 5_000).size == 999)
    }

    @Test("a pinned item at the bottom of a full history can be copied again")
    mutating func testReaddingBottomMostPinnedItemAtFullCapacity() {
        history = ClipHistory(limits: HistoryLimits(size: 3))
        for (time, text) in ["pinned", "1", "2", "3"].enumerated() {
            history.add(text, at: Timestamp(milliseconds: Int64(time)))
            if text == "pinned" { pin(text) }
        }
        history.add("pinned", at: 9)
        #expect(history.titles(pins: .bottom) == ["3", "2", "1", "pinned"])
        #expect(history.items[ItemKey("pinned")]?.copyCount == 2)
    }

    @Test("a removed item is gone")
    mutating func testRemoving() {
        history.add("foo", at: 1)
        history.add("bar", at: 2)
        let changes = history.remove([ItemKey("foo"), ItemKey("none")])
        #expect(changes == ClipHistory.Changes(removed: [ItemKey("foo")]))
        #expect(history.titles() == ["bar"])
    }

    @Test("the bytes of removed items are free again")
    mutating func testCleaningUpOrphanedContents() {
        history.add("foo", at: 1)
        let count = history.byteCount
        history.add("bar", at: 2)
        _ = history.remove([ItemKey("bar")])
        #expect(history.byteCount == count)
    }

    @Test("items over 90 percent of the quota push out the oldest, but no pin")
    mutating func fitRule() throws {
        history = ClipHistory(limits: HistoryLimits(quota: 10_000, storedByteCount: { $0 * 2 }))
        let text = { (number: Int) in String(repeating: "\(number)", count: 900) }
        for number in 0..<5 {
            history.add(text(number), at: Timestamp(milliseconds: Int64(number)))
        }
        #expect(history.items.count == 4 && history.byteCount <= 9_000)
        for number in 1...4 { pin(text(number)) }
        let before = history
        guard case .full(let needed) = history.add(text(5), at: 9) else {
            Issue.record("an item was added beside pins that leave no room")
            return
        }
        #expect(needed > 1_800 && history.items == before.items)
        #expect(history.byteCount == before.byteCount)
    }

    @Test("with many pins, fewer other items are kept, so that all have room among 1,020 keys")
    mutating func keyLimit() {
        var items: [ItemKey: ClipItem] = [:]
        for number in 0..<1_020 {
            var item = ClipItem("\(number)", at: Timestamp(milliseconds: Int64(number)))
            if number < 100 { item.set(.unlettered, at: 1) }
            items[ItemKey("\(number)")] = item
        }
        history = ClipHistory(items: items, limits: HistoryLimits(size: 999))
        history.add("new", at: 5_000)
        #expect(history.items.count == HistoryLimits.itemLimit)
        #expect(history.items[ItemKey("100")] == nil && history.items[ItemKey("0")] != nil)
    }

    @Test("items that are not pinned expire by their last copy")
    mutating func expiry() {
        history.add("old", at: 0)
        history.add("pinned", at: 0)
        pin("pinned")
        history.add("new", at: 3_000_000)
        #expect(history.expire(.off, at: 3_600_001).isEmpty)
        #expect(history.expire(.hour, at: 3_600_000).isEmpty)
        #expect(history.expire(.hour, at: 3_600_001).dropped == [ItemKey("old")])
        #expect(Expiry.allCases.map(\.rawValue) == ["off", "1h", "1d", "7d", "30d"])
    }

    @Test("a cleared clipboard removes the item that was in it if that is new and not pinned")
    mutating func selectionCleared() {
        history.add("secret", at: 100_000)
        history.add("of another machine", at: 110_000)
        let key = ItemKey("secret")
        #expect(history.selectionCleared(key, at: 160_000).isEmpty)
        #expect(history.selectionCleared(ItemKey("none"), at: 1).isEmpty)
        let before = history
        #expect(history.selectionCleared(key, at: 159_999).removed == [key])
        #expect(history.selectionCleared(key, at: 159_999).isEmpty)
        history = before
        pin("secret")
        #expect(history.selectionCleared(key, at: 159_999).isEmpty)
    }
}
