@testable import clip
import Foundation
import Testing

/// What Maccy's tests of its user interface state, for a terminal:
///
/// | Maccy | here |
/// |---|---|
/// | NewCopyIsAdded | a new copy is added |
/// | Search, SearchFiles | typing searches titles, and names of files |
/// | CopyWithEnter, CopyImage, CopyFile, CopyRTF, CopyHTML | Enter copies the selected item of every kind |
/// | CopyWithCommandShortcut, SearchAndCopyWithCommandShortcut | Alt with a digit copies an item, also of those found |
/// | DownArrow, UpArrow, ControlJ, ControlK | arrows and Control-J, K, N and P move the selection |
/// | DeleteEntry, DeleteEntryDuringSearch | Control-D deletes …, also during a search |
/// | Clear, ClearDuringSearch, ClearAll | clearing asks first … |
/// | Pin, PinDuringSearch, Unpin | Control-T pins …, ends the search, and unpins |
/// | RemoveLastWordFromSearchWithControlW | Control-W removes the last word |
/// | PasteToSearch | pasted text becomes the query |
/// | CreatesNewCopyOnEnterWhenSearchResultsAreEmpty | a query without results is copied with Alt-Enter |
/// | OpenAndSelectSecondItem, OpenAndSelectThirdItem | the second and third item are copied after as many keys |
///
/// Without a counterpart: what opens and closes a window, clicks, the menu bar.
@Suite("The state of clip pick")
struct PickStateTests {
    @Test("a new copy is added, and the selection stays on its item")
    func newCopy() {
        var pick = PickSample(["foo", "bar"])
        #expect(pick.titles == ["bar", "foo"] && pick.selected == "bar")
        pick.copyElsewhere("baz")
        #expect(pick.titles == ["baz", "bar", "foo"] && pick.selected == "bar")
        pick.type("ba")
        #expect(pick.titles == ["baz", "bar"] && pick.selected == "baz")
        pick.copyElsewhere("bat")
        #expect(pick.titles == ["bat", "baz", "bar"] && pick.selected == "baz")
    }

    @Test("typing searches titles, and names of files")
    func search() {
        var pick = PickSample(["foo", "bar"])
        pick.copyElsewhere(ClipContents([.init(.files, "file:///tmp/two%20words.txt")]))
        pick.type("FO")
        #expect(pick.titles == ["foo"] && pick.selected == "foo")
        pick.type(Sent.control("u") + "two w")
        #expect(pick.titles == ["file:///tmp/two words.txt"])
        #expect(pick.state.hits.first?.highlights == [12..<17])
    }

    @Test(
        "Enter copies the selected item of every kind",
        arguments: [
            ([.init(.text, "foo")], "foo"),
            ([.init(.png, Data([0x89, 0x50]))], "image"),
            ([.init(.files, "file:///tmp/a")], "file:///tmp/a"),
            ([.init(.rtf, "{\\rtf1 foo}")], "foo"),
            ([.init(.html, "<b>foo</b>")], "foo"),
        ] as [([ClipContents.Part], String)])
    func copy(parts: [ClipContents.Part], title: String) {
        var pick = PickSample(["other"])
        pick.copyElsewhere(ClipContents(parts))
        pick.type(Sent.up + Sent.enter)
        #expect(pick.copied == [title])
        pick.type(Sent.alt("v"))
        #expect(pick.copied == [title, title + " (plain)"])
    }

    @Test("Alt with a digit copies an item, also of those found")
    func digits() {
        var pick = PickSample(["third", "second foo", "first foo"])
        pick.type(Sent.alt("2"))
        pick.type("foo" + Sent.alt("2"))
        pick.type(Sent.control("u") + Sent.alt("3") + Sent.alt("4"))
        #expect(pick.copied == ["second foo", "second foo", "third"])
        #expect(pick.state.message == "no item has that digit or letter")
    }

    @Test(
        "arrows and Control-J, K, N and P move the selection, and stop at the ends",
        arguments: [
            (Sent.down, Sent.up), (Sent.control("j"), Sent.control("k")), (Sent.control("n"), Sent.control("p")),
        ])
    func moving(down: String, up: String) {
        var pick = PickSample(["c", "b", "a"])
        var seen: [String?] = []
        for key in [up, down, down, down, up, up, up] {
            pick.type(key)
            seen.append(pick.selected)
        }
        #expect(seen == ["a", "b", "c", "c", "b", "a", "a"])
        #expect(pick.state.query.isEmpty)
    }

    @Test("Control-D deletes the selected item and selects the nearest", arguments: ["d", ""])
    func delete(letter: String) {
        let key = letter.first.map(Sent.control) ?? Sent.delete
        var pick = PickSample(["d", "c", "b", "a"])
        pick.type(Sent.down + key)
        #expect(pick.titles == ["a", "c", "d"] && pick.selected == "c")
        pick.type(key + key)
        #expect(pick.titles == ["a"] && pick.selected == "a")
        pick.type(key + key + Sent.enter)
        #expect(pick.titles.isEmpty && pick.selected == nil && pick.copied.isEmpty)
    }

    @Test("deleting during a search keeps the query")
    func deleteFound() {
        var pick = PickSample(["foo 2", "bar", "foo 1"])
        pick.type("foo" + Sent.down + Sent.control("d"))
        #expect(pick.titles == ["foo 1"] && pick.selected == "foo 1")
        pick.type(Sent.control("u"))
        #expect(pick.titles == ["foo 1", "bar"])
    }

    @Test("of several items removed elsewhere, the nearest one left is selected")
    func removedElsewhere() {
        var pick = PickSample(["e", "d", "c", "b", "a"])
        pick.type(Sent.down + Sent.down)
        pick.removeElsewhere("c", "d", "a")
        #expect(pick.titles == ["b", "e"] && pick.selected == "e")
        pick.removeElsewhere("e")
        #expect(pick.selected == "b")
    }

    @Test("clearing asks first, and says what goes: all but pins, whatever is searched for")
    func clear() {
        var pick = PickSample(["c", "b", "a"])
        pick.type(Sent.control("t") + "c" + Sent.control("x"))
        #expect(pick.text().contains("Remove 2 items from the history?"))
        #expect(pick.text().contains("Also those that the search does not show."))
        #expect(pick.text().contains("1 pinned item would stay."))
        pick.type("n")
        #expect(pick.history.items.count == 3 && pick.state.overlay == nil)
        pick.type(Sent.control("x") + "y" + Sent.control("u"))
        #expect(pick.titles == ["a"])
        pick.type(Sent.control("x") + "a")
        #expect(pick.titles.isEmpty)
        #expect(pick.text().contains("The history is empty."))
        pick.type(Sent.control("x"))
        #expect(pick.state.overlay == nil)
    }

    @Test("Control-T pins the selected item, ends the search, and unpins")
    func pins() throws {
        var pick = PickSample(["b", "foo", "a"])
        pick.type("foo" + Sent.control("t"))
        #expect(pick.state.query.isEmpty && pick.titles == ["foo", "a", "b"])
        #expect(pick.selected == "foo")
        let letter = try #require(pick.pinLetter("foo"))
        #expect(pick.text().contains("› \(letter) foo"))
        // The first that is not pinned has the digit 1 and is selected by an empty query.
        pick.type("b" + Sent.alt(letter) + Sent.backspace)
        #expect(pick.copied == ["foo"] && pick.selected == "a")
        #expect(pick.text().contains("› 1 a"))
        pick.type(Sent.up + Sent.control("t"))
        #expect(pick.titles == ["a", "foo", "b"] && pick.selected == "foo")
        #expect(pick.pinLetter("foo") == nil)
    }

    @Test("pins are at the bottom where that is set")
    func bottom() {
        var settings = ClipSettings()
        settings.pins = .bottom
        var pick = PickSample(["b", "a"], settings: settings)
        pick.type(Sent.control("t"))
        #expect(pick.titles == ["b", "a"] && pick.selected == "a")
    }

    @Test("Control-W removes the last word, Control-H a character, Control-U everything")
    func editing() {
        var pick = PickSample(["foo"])
        var seen: [String] = []
        for key in ["foo bar  ", "w", "w", "", "one two", "h", "u"] {
            pick.type(key.count == 1 ? Sent.control(key.first ?? " ") : key)
            seen.append(pick.state.query)
        }
        #expect(seen == ["foo bar  ", "foo ", "", "", "one two", "one tw", ""])
        pick.type("one two" + Sent.alt("\u{7F}"))
        #expect(pick.state.query == "one " && !pick.hasLeft)
    }

    @Test("pasted text becomes the query, on one line")
    func paste() {
        var pick = PickSample(["a foo bar", "b"])
        pick.type(Sent.paste("foo\nbar\u{1B}[31m"))
        #expect(pick.state.query == "foo bar31m")
        pick.type(Sent.control("u") + Sent.paste("foo\nbar"))
        #expect(pick.titles == ["a foo bar"])
        pick.type(Sent.paste(String(repeating: "x", count: 4_000)))
        #expect(pick.state.query.count == PickState.queryLimit)
    }

    @Test(
        "a query without results is copied with Alt-Enter, or Control-Enter where a terminal sends it",
        arguments: [Sent.altEnter, "\u{1B}[13;5u", "\u{1B}[27;5;13~"])
    func emptyResults(key: String) {
        var pick = PickSample(["foo"])
        pick.type(key)
        #expect(pick.copied.isEmpty && pick.titles == ["foo"])
        pick.type("bar" + Sent.enter)
        #expect(pick.copied.isEmpty)
        #expect(pick.text().contains("no item is selected; Control-Enter or Alt-Enter copies"))
        pick.type(key)
        #expect(pick.copied == ["bar"] && pick.titles == ["bar"])
    }

    @Test("the second and third item are copied after as many keys", arguments: [1, 2])
    func laterItems(count: Int) {
        var pick = PickSample(["third", "second", "first"])
        pick.type(String(repeating: Sent.down, count: count) + Sent.enter)
        #expect(pick.copied == [["second", "third"][count - 1]])
    }

    @Test("Tab goes through the modes of searching")
    func modes() {
        var pick = PickSample(["foo bar", "fxobar"])
        pick.type("fbr")
        var seen = [pick.titles.count]
        for _ in 1...4 {
            pick.type(Sent.tab)
            seen.append(pick.titles.count)
        }
        #expect(seen == [0, 2, 0, 2, 0])
        pick.type("\u{1B}[Z")
        #expect(pick.state.mode == .mixed)
    }

    @Test("an invalid regular expression and a search that took too long are said")
    func searchFailures() {
        var settings = ClipSettings()
        settings.searchMode = .regexp
        var pick = PickSample(["foo"], settings: settings)
        pick.type("(")
        #expect(pick.text().hasSuffix("invalid pattern: missing closing parenthesis"))
        let start = ContinuousClock.now
        var slow = PickSample(
            [String(repeating: "a", count: 40) + "b"], settings: settings, timer: MatchTimer(ContinuousClock()))
        slow.type("(a+)+$")
        #expect(start.duration(to: .now) < .seconds(10))
        #expect(slow.state.isCutShort && slow.text().contains("the search took too long"))
    }

    @Test("Escape clears the query, then leaves; Control-C leaves")
    func leaving() {
        var pick = PickSample(["foo"])
        pick.type("x" + Sent.escape)
        #expect(!pick.hasLeft && pick.state.query.isEmpty)
        pick.type(Sent.help + Sent.escape)
        #expect(!pick.hasLeft)
        pick.type(Sent.escape)
        #expect(pick.hasLeft)
        var other = PickSample(["foo"])
        other.type("x" + Sent.control("c"))
        #expect(other.hasLeft)
    }
}
