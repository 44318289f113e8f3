import LocalFiles
import Testing

@testable import UsagePusher

@Suite("Watch table")
struct WatchTableTests {
    private func outcome(_ table: inout WatchTable, _ notices: DirectoryEvent...) -> WatchOutcome {
        var outcome = WatchOutcome()
        for notice in notices { table.apply(notice, to: &outcome) }
        return outcome
    }

    @Test("in a parent directory only the next component of the path counts")
    func component() {
        var table = WatchTable()
        table.add(1, path: "/home", role: .component("dev", root: 0, kind: .directory, isLast: false))
        let other = DirectoryEvent(descriptor: 1, kinds: [.disappeared, .directory], name: "guest")
        #expect(outcome(&table, other) == WatchOutcome())
        let own = DirectoryEvent(descriptor: 1, kinds: [.disappeared, .directory], name: "dev")
        #expect(outcome(&table, own).needsRebuild)
        #expect(outcome(&table, own).changed == [0])
    }

    @Test("a replaced file needs a check of its kind, not a rebuild")
    func replacedFile() {
        var table = WatchTable()
        table.add(1, path: "/home", role: .component("a.json", root: 2, kind: .file, isLast: true))
        let notice = DirectoryEvent(descriptor: 1, kinds: [.appeared, .moved], name: "a.json")
        let found = outcome(&table, notice)
        #expect(found.changed == [2])
        #expect(!found.needsRebuild)
        #expect(found.possibleDirectories == ["/home/a.json"])
    }

    @Test("entries that appear in a tree are watched down to the depth limit")
    func depth() {
        var table = WatchTable()
        table.add(1, path: "/t", role: .tree(root: 0, depth: 2))
        table.add(2, path: "/t/a/b", role: .tree(root: 0, depth: 0))
        let upper = outcome(&table, DirectoryEvent(descriptor: 1, kinds: .appeared, name: "n"))
        #expect(upper.newEntries == [.init(path: "/t/n", root: 0, depth: 1)])
        let lower = outcome(&table, DirectoryEvent(descriptor: 2, kinds: .appeared, name: "n"))
        #expect(lower.newEntries.isEmpty)
        #expect(lower.changed == [0])
    }

    @Test("a directory deleted in a tree ends its watch; a moved one needs a rebuild")
    func goneDirectories() {
        var table = WatchTable()
        table.add(1, path: "/t", role: .tree(root: 0, depth: 2))
        table.add(2, path: "/t/a", role: .tree(root: 0, depth: 1))
        let deleted = outcome(
            &table, DirectoryEvent(descriptor: 2, kinds: .selfDeleted), DirectoryEvent(descriptor: 2, kinds: .ignored),
            DirectoryEvent(descriptor: 1, kinds: [.disappeared, .directory], name: "a"))
        #expect(!deleted.needsRebuild)
        #expect(deleted.changed == [0])
        #expect(!table.contains(2))
        let moved = outcome(
            &table, DirectoryEvent(descriptor: 1, kinds: [.disappeared, .moved, .directory], name: "b"))
        #expect(moved.needsRebuild)
    }

    @Test("a directory with two paths counts once for each root")
    func twoRoots() {
        var table = WatchTable()
        table.add(1, path: "/t", role: .tree(root: 0, depth: 2))
        table.add(1, path: "/link", role: .contents(root: 1))
        table.add(1, path: "/link", role: .contents(root: 1))
        #expect(table.directoryCount == 1)
        #expect(table.isInTree(1, root: 0))
        #expect(!table.isInTree(1, root: 1))
        let found = outcome(&table, DirectoryEvent(descriptor: 1, kinds: .modified, name: "f"))
        #expect(found.changed == [0, 1])
    }

    @Test("an overflow needs a rebuild")
    func overflow() {
        var table = WatchTable()
        table.add(1, path: "/a", role: .tree(root: 0, depth: 3))
        var outcome = WatchOutcome()
        table.apply(DirectoryEvent(descriptor: -1, kinds: .overflow), to: &outcome)
        #expect(outcome.needsRebuild)
    }

    @Test("an event of an ended watch is ignored")
    func stale() {
        var table = WatchTable()
        let notice = DirectoryEvent(descriptor: 9, kinds: .ignored)
        #expect(outcome(&table, notice) == WatchOutcome())
    }
}

@Suite("Pending watch events")
struct PendingWatchEventsTests {
    @Test("changes merge; reasons and the start come first")
    func order() {
        var pending = PendingWatchEvents()
        pending.add(.changed([WatchedPath("/a")]))
        pending.add(.started)
        pending.add(.degraded("slow"))
        pending.add(.changed([WatchedPath("/b")]))
        #expect(pending.take() == .degraded("slow"))
        #expect(pending.take() == .started)
        #expect(pending.take() == .changed([WatchedPath("/a"), WatchedPath("/b")]))
        #expect(pending.take() == nil)
    }

    @Test("a reason is delivered once, and their number is bounded")
    func reasons() {
        var pending = PendingWatchEvents()
        for number in 0..<100 { pending.add(.degraded("reason \(number % 50)")) }
        var delivered: [WatchEvent] = []
        while let event = pending.take() { delivered.append(event) }
        #expect(delivered.count == 16)
        pending.add(.degraded("reason 0"))
        #expect(pending.take() == nil)
    }
}
