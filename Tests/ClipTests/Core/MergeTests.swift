@testable import clip
import Foundation
import StoreTestSupport
import Testing

@Suite("Merging what devices know of an item")
struct MergeTests {
    private static let devices = ["desk", "laptop", "phone"]

    /// One of few values, so that items often agree in some and differ in others.
    private static func item(using randomness: inout SeededGenerator) -> ClipItem {
        let times = (0..<3).map { _ in Timestamp(milliseconds: Int64.random(in: 0...3, using: &randomness)) }
        let bodies: [ClipItem.Body] = [
            .contents(ClipContents(text: "x")), .contents(ClipContents(text: "y")),
            .contents(ClipContents([.init(.text, "x"), .init(.html, "z")])),
            .contents(ClipContents([.init(.text, "a"), .init(.rtf, "z")])),
            .stub(ContentStub(of: ClipContents(text: "x"))),
            .stub(ContentStub(of: ClipContents(text: "xyz"))),
        ]
        let pins: [PinState.Pin?] = [nil, .unlettered] + PinLetter.all.prefix(2).map(PinState.Pin.letter)
        let counts = devices.map { ($0, UInt32.random(in: 0...2, using: &randomness)) }
        return ClipItem(
            body: bodies.randomElement(using: &randomness) ?? bodies[0],
            origin: ClipItem.Origin(
                device: devices.randomElement(using: &randomness) ?? "",
                application: [nil, "", "editor"].randomElement(using: &randomness) ?? nil,
                title: [nil, "title"].randomElement(using: &randomness) ?? nil),
            firstCopied: times[0], lastCopied: times[1],
            counts: Dictionary(uniqueKeysWithValues: counts.filter { $0.1 > 0 }),
            pin: PinState(pins.randomElement(using: &randomness) ?? nil, changed: times[2]))
    }

    @Test("merging is commutative, associative and idempotent, and loses nothing")
    func laws() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var randomness = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let (one, two, three) = (
                Self.item(using: &randomness), Self.item(using: &randomness), Self.item(using: &randomness)
            )
            let both = one.joined(two)
            let isLawful =
                both == two.joined(one) && one.joined(one) == one && both.joined(one) == both
                && both.joined(three) == one.joined(two.joined(three))
            #expect(isLawful, "seed \(seed): \(one) \(two) \(three)")
            #expect(both.firstCopied == min(one.firstCopied, two.firstCopied))
            #expect(both.lastCopied == max(one.lastCopied, two.lastCopied))
            #expect(both.pin.changed == max(one.pin.changed, two.pin.changed))
            #expect(
                Self.devices.allSatisfy {
                    both.counts[$0] == [one.counts[$0], two.counts[$0]].compactMap { $0 }.max()
                })
            guard isLawful else { return }
        }
    }

    @Test("copies at the same time add up, and neither pin nor copy is lost")
    func concurrentChanges() {
        let item = ClipItem("foo", on: "desk", at: 1)
        var (desk, laptop) = (item, item)
        desk.copyAgain(on: "desk", at: 5)
        laptop.copyAgain(on: "laptop", at: 4)
        laptop.set(.unlettered, at: 4)
        let joined = desk.joined(laptop)
        #expect(joined.copyCount == 3 && joined.isPinned)
        #expect(joined.firstCopied == 1 && joined.lastCopied == 5)
    }

    @Test("of two contents the superset stays, and contents instead of a stub")
    func fullerContents() {
        let rich = ClipItem(ClipContents([.init(.text, "a"), .init(.html, "b")]))
        let poor = ClipItem("a long text, with more bytes than both parts of the other")
        let stub = ClipItem(body: .stub(ContentStub(of: ClipContents(text: "x"))), origin: rich.origin, at: 0)
        #expect(poor.joined(rich).body == rich.body && rich.joined(poor).body == rich.body)
        #expect(stub.joined(poor).body == poor.body && poor.joined(stub).body == poor.body)
    }

    @Test("more devices than an item has room for are cut the same way in any order")
    func manyDevices() {
        let items = (0..<4).map { group in
            ClipItem(
                body: .contents(ClipContents(text: "x")), origin: .init(device: "desk"), firstCopied: 0, lastCopied: 0,
                counts: Dictionary(uniqueKeysWithValues: (0..<50).map { ("\(group * 40 + $0)", 1) })
            )
        }
        let joined = items.reduce(items[0]) { $0.joined($1) }
        #expect(joined == items.reversed().reduce(items[3]) { $0.joined($1) })
        #expect(joined.counts.count == ClipItem.deviceLimit)
    }

    @Test("what another device wrote is written again only if this one knows more")
    func writingBack() {
        let item = ClipItem("foo", on: "desk", at: 1)
        var newer = item
        newer.copyAgain(on: "laptop", at: 2)
        let behind = Reconciliation(.item(item, isShared: true), newer)
        #expect(behind.shared == newer && behind.local == .item(newer, isShared: true))
        #expect(Reconciliation(.item(newer, isShared: true), item).shared == newer)
    }

    @Test("an item that was removed on another device is removed, one that it has not had is shared")
    func removalElsewhere() {
        let item = ClipItem("foo", at: 1)
        let removed = Reconciliation(.item(item, isShared: true), nil)
        #expect(removed.local == nil && removed.shared == nil)
        let new = Reconciliation(.item(item, isShared: false), nil)
        #expect(new.local == .item(item, isShared: true) && new.shared == item)
    }

    @Test("an item that was removed here is removed there, whatever has become of it")
    func removalHere() {
        var entries: [ItemKey: LocalEntry] = [
            ItemKey("foo"): .item(ClipItem("foo"), isShared: true),
            ItemKey("own"): .item(ClipItem("own"), isShared: false),
        ]
        var history = ClipHistory(items: entries.items)
        entries.apply(history.clear(), of: history)
        #expect(entries == [ItemKey("foo"): .removed])
        let outcome = Reconciliation(.removed, ClipItem("foo", on: "laptop", at: 9))
        #expect(outcome.local == nil && outcome.shared == nil)
    }

    @Test("an item that went for room or its age stays if another device has used it since")
    func dropping() {
        let item = ClipItem("foo", on: "desk", at: 5)
        var entries: [ItemKey: LocalEntry] = [ItemKey("foo"): .item(item, isShared: true)]
        var history = ClipHistory(items: entries.items)
        entries.apply(history.expire(.hour, at: 9_000_000), of: history)
        let dropped = entries[ItemKey("foo")]
        #expect(dropped == .dropped(lastCopied: 5, pinChanged: item.pin.changed))
        #expect(Reconciliation(dropped, item).shared == nil)
        #expect(Reconciliation(dropped, nil).local == nil)
        var (copied, pinned) = (item, item)
        copied.copyAgain(on: "laptop", at: 6)
        pinned.set(.unlettered, at: 6)
        for newer in [copied, pinned] {
            let outcome = Reconciliation(dropped, newer)
            #expect(outcome.shared == newer && outcome.local == .item(newer, isShared: true))
        }
    }

    @Test("devices that change and exchange items in any order end with the same, and fall silent")
    func interleavings() {
        settled(removes: true) { world, _ in
            for device in world.devices.values {
                #expect(device.entries.items == world.stored)
            }
        }
    }

    @Test("no copy and no pin of any device is lost while others write the same items")
    func counts() {
        settled(removes: false) { world, seed in
            for (name, device) in world.devices {
                #expect(device.entries.items == world.stored)
                for (key, count) in device.copies {
                    #expect(world.stored[key]?.counts[name] == count, "seed \(seed)")
                }
            }
        }
    }

    private func settled(removes: Bool, _ check: (ExchangingDevices, UInt64) -> Void) {
        let first = UInt64.random(in: 0...UInt64.max / 2)
        for seed in first..<(first + 300) {
            var world = ExchangingDevices(names: Self.devices, removes: removes, seed: seed)
            for _ in 0..<80 { world.step() }
            let rounds = world.settle(limit: 50)
            #expect(rounds != nil, "seed \(seed): devices go on answering each other")
            check(world, seed)
            guard rounds != nil, world.devices.values.allSatisfy({ $0.entries.items == world.stored }) else {
                Issue.record("seed \(seed): devices differ")
                return
            }
        }
    }
}
