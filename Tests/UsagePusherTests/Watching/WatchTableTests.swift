import Testing

@testable import UsagePusher

@Suite("What a notice means")
struct WatchTableTests {
    private func outcome(_ table: inout WatchTable, _ notices: WatchNotice...) -> WatchOutcome {
        var outcome = WatchOutcome()
        for notice in notices { table.interpret(notice, into: &outcome) }
        return outcome
    }

    @Test("only the name that leads on counts in a folder on the way")
    func component() {
        var table = WatchTable()
        table.add(
            1, path: "/home",
            role: .component("dev", root: 0, kind: .folder, isLast: false))
        let other = WatchNotice(descriptor: 1, kinds: [.disappeared, .folder], name: "guest")
        #expect(outcome(&table, other) == WatchOutcome())
        let own = WatchNotice(descriptor: 1, kinds: [.disappeared, .folder], name: "dev")
        #expect(outcome(&table, own).isRebuildNeeded)
        #expect(outcome(&table, own).changed == [0])
    }

    @Test("a replaced file needs no rebuild, but a look at what it is now")
    func replacedFile() {
        var table = WatchTable()
        table.add(
            1, path: "/home", role: .component("a.json", root: 2, kind: .file, isLast: true))
        let notice = WatchNotice(descriptor: 1, kinds: [.appeared, .moved], name: "a.json")
        let found = outcome(&table, notice)
        #expect(found.changed == [2])
        #expect(!found.isRebuildNeeded)
        #expect(found.mayHaveBecomeFolder == ["/home/a.json"])
    }

    @Test("what appears in a tree is looked at with one level less, until none is left")
    func depth() {
        var table = WatchTable()
        table.add(1, path: "/t", role: .tree(root: 0, depth: 2))
        table.add(2, path: "/t/a/b", role: .tree(root: 0, depth: 0))
        let upper = outcome(&table, WatchNotice(descriptor: 1, kinds: .appeared, name: "n"))
        #expect(upper.newEntries == [.init(path: "/t/n", root: 0, depth: 1)])
        let lower = outcome(&table, WatchNotice(descriptor: 2, kinds: .appeared, name: "n"))
        #expect(lower.newEntries.isEmpty)
        #expect(lower.changed == [0])
    }

    @Test("a folder deleted in a tree only ends its watch; a moved one starts everything anew")
    func goneFolders() {
        var table = WatchTable()
        table.add(1, path: "/t", role: .tree(root: 0, depth: 2))
        table.add(2, path: "/t/a", role: .tree(root: 0, depth: 1))
        let deleted = outcome(
            &table, WatchNotice(descriptor: 2, kinds: .selfDeleted),
            WatchNotice(descriptor: 2, kinds: .ignored),
            WatchNotice(descriptor: 1, kinds: [.disappeared, .folder], name: "a"))
        #expect(!deleted.isRebuildNeeded)
        #expect(deleted.changed == [0])
        #expect(!table.holds(2))
        let moved = outcome(
            &table,
            WatchNotice(descriptor: 1, kinds: [.disappeared, .moved, .folder], name: "b"))
        #expect(moved.isRebuildNeeded)
    }

    @Test("a folder with two paths counts for both roots, once each")
    func twoRoots() {
        var table = WatchTable()
        table.add(1, path: "/t", role: .tree(root: 0, depth: 2))
        table.add(1, path: "/link", role: .contents(root: 1))
        table.add(1, path: "/link", role: .contents(root: 1))
        #expect(table.folderCount == 1)
        #expect(table.isInTree(1, root: 0))
        #expect(!table.isInTree(1, root: 1))
        let found = outcome(&table, WatchNotice(descriptor: 1, kinds: .modified, name: "f"))
        #expect(found.changed == [0, 1])
    }

    @Test("a lost queue makes everything count as changed and the watches anew")
    func overflow() {
        var table = WatchTable()
        table.add(1, path: "/a", role: .tree(root: 0, depth: 3))
        var outcome = WatchOutcome()
        table.interpret(WatchNotice(descriptor: -1, kinds: .overflow), into: &outcome)
        #expect(outcome.isRebuildNeeded)
    }

    @Test("a notice of a watch that is over means nothing")
    func stale() {
        var table = WatchTable()
        let notice = WatchNotice(descriptor: 9, kinds: .ignored)
        #expect(outcome(&table, notice) == WatchOutcome())
    }
}

@Suite("Events that wait to be taken")
struct WatchMailboxTests {
    @Test("changes merge; reasons and the start come first")
    func order() {
        var mailbox = WatchMailbox()
        mailbox.post(.changed([WatchedPath("/a")]))
        mailbox.post(.started)
        mailbox.post(.degraded("slow"))
        mailbox.post(.changed([WatchedPath("/b")]))
        #expect(mailbox.take() == .degraded("slow"))
        #expect(mailbox.take() == .started)
        #expect(mailbox.take() == .changed([WatchedPath("/a"), WatchedPath("/b")]))
        #expect(mailbox.take() == nil)
    }

    @Test("a reason is told once, and not without end")
    func reasons() {
        var mailbox = WatchMailbox()
        for number in 0..<100 { mailbox.post(.degraded("reason \(number % 50)")) }
        var told: [WatchEvent] = []
        while let event = mailbox.take() { told.append(event) }
        #expect(told.count == 16)
        mailbox.post(.degraded("reason 0"))
        #expect(mailbox.take() == nil)
    }
}
