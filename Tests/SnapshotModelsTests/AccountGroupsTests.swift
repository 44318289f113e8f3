import Foundation
import SnapshotModels
import Testing

/// Which cards of several machines are one account.
@Suite("Accounts of several machines")
struct AccountGroupsTests {
    /// A card: `ADDRESS/PLAN`, each "-" if unknown. The cards of one machine are in one list.
    typealias Machines = [[String]]

    struct Case: Sendable, CustomTestStringConvertible {
        let what: String
        let machines: Machines
        /// The accounts, each with its cards, and the names that they are shown with.
        let accounts: [[String]]
        let names: [String?]
        var testDescription: String { what }
    }

    /// The normative table.
    static let table: [Case] = [
        Case(
            what: "same address, same plan", machines: [["a/Plus"], ["A /plus"]],
            accounts: [["A /plus", "a/Plus"]], names: ["a"]),
        Case(
            what: "same address, other plan", machines: [["a/Plus"], ["a/Business"]],
            accounts: [["a/Business"], ["a/Plus"]], names: ["a (Business)", "a (Plus)"]),
        Case(
            what: "same address, unknown plan", machines: [["a/Plus"], ["a/-"]],
            accounts: [["a/-", "a/Plus"]], names: ["a"]),
        Case(
            what: "other address, same plan", machines: [["a/Plus"], ["b/Plus"]],
            accounts: [["a/Plus"], ["b/Plus"]], names: ["a", "b"]),
        Case(
            what: "unknown address, same plan", machines: [["a/Plus"], ["-/Plus"]],
            accounts: [["-/Plus", "a/Plus"]], names: ["a"]),
        Case(
            what: "unknown address, other plan", machines: [["a/Plus"], ["-/Business"]],
            accounts: [["a/Plus"], ["-/Business"]], names: ["a", nil]),
        Case(
            what: "unknown address, unknown plan", machines: [["a/Plus"], ["-/-"]],
            accounts: [["-/-", "a/Plus"]], names: ["a"]),
        Case(
            what: "both addresses unknown, other plan", machines: [["-/Plus"], ["-/Business"]],
            accounts: [["-/Business"], ["-/Plus"]], names: ["unnamed (Business)", "unnamed (Plus)"]),
        Case(what: "nothing known at all", machines: [["-/-"], ["-/-"]], accounts: [["-/-", "-/-"]], names: [nil]),
        Case(
            what: "ids beside the address", machines: [["a (4f2c)/Plus"], ["a (9b01)/Plus"]],
            accounts: [["a (4f2c)/Plus"], ["a (9b01)/Plus"]], names: ["a (4f2c)", "a (9b01)"]),
        Case(
            what: "an unnamed card between two addresses",
            machines: [["a/Plus"], ["b/Plus"], ["-/-"]],
            accounts: [["a/Plus"], ["b/Plus"], ["-/-"]], names: ["a", "b", nil]),
        Case(
            what: "an unnamed card whose plan only one of two addresses has",
            machines: [["a/Plus"], ["b/Business"], ["-/Business"]],
            accounts: [["a/Plus"], ["-/Business", "b/Business"]], names: ["a", "b"]),
        Case(
            what: "an address without a plan between two unnamed plans",
            machines: [["a/-"], ["-/Plus"], ["-/Business"]],
            accounts: [["a/-"], ["-/Business"], ["-/Plus"]],
            names: ["a", "unnamed (Business)", "unnamed (Plus)"]),
        Case(
            what: "an unnamed card between two plans of an address",
            machines: [["a/Plus"], ["a/Business"], ["-/-"]],
            accounts: [["a/Business"], ["a/Plus"], ["-/-"]],
            names: ["a (Business)", "a (Plus)", nil]),
        Case(
            what: "an address without a plan between two plans of it",
            machines: [["a/Plus"], ["a/Business"], ["a/-"]],
            accounts: [["a/Business"], ["a/Plus"], ["a/-"]],
            names: ["a (Business)", "a (Plus)", "a"]),
        Case(
            what: "a plan with and without the provider's name and its multiple",
            machines: [["a/Max"], ["a/Max 5x"], ["-/Claude Max"]],
            accounts: [["-/Claude Max", "a/Max", "a/Max 5x"]], names: ["a"]),
        Case(
            what: "two multiples of a plan, and one without",
            machines: [["a/Max 5x"], ["a/Max 20x"], ["a/Max"]],
            accounts: [["a/Max 20x"], ["a/Max 5x"], ["a/Max"]],
            names: ["a (Max 20x)", "a (Max 5x)", "a (Max)"]),
        Case(
            what: "a plan whose name begins as another's", machines: [["a/Pro"], ["a/Pro Plus"]],
            accounts: [["a/Pro"], ["a/Pro Plus"]], names: ["a (Pro)", "a (Pro Plus)"]),
        Case(
            what: "two cards of one machine", machines: [["a/Plus", "-/Plus"]],
            accounts: [["a/Plus"], ["-/Plus"]], names: ["a", nil]),
        Case(
            what: "an unnamed card beside the address on its machine, and the address elsewhere",
            machines: [["a/Plus", "-/Plus"], ["a/Plus"]],
            accounts: [["a/Plus", "a/Plus"], ["-/Plus"]], names: ["a", nil]),
        Case(
            what: "an unnamed card that could only be a card whose own plan is unknown",
            machines: [["a/-", "a/Plus"], ["a/Max", "-/Max"]],
            accounts: [["a/Max"], ["a/Plus"], ["a/-"], ["-/Max"]],
            names: ["a (Max)", "a (Plus)", "a", nil]),
        Case(
            what: "an unnamed card that could be two, beside them",
            machines: [["a/Plus"], ["-/Plus"], ["-/Business"], ["-/-"]],
            accounts: [["-/Plus", "a/Plus"], ["-/Business"], ["-/-"]],
            names: ["a", "unnamed (Business)", nil]),
    ]

    @Test("cards are one account only if nothing contradicts, in any order", arguments: table)
    func rule(row: Case) {
        let snapshots = Self.snapshots(row.machines)
        for order in snapshots.permutations {
            let merged = SnapshotMerge.merge(order, now: GeneratedSnapshots.now)
            #expect(Self.cards(of: merged, in: snapshots) == row.accounts)
            #expect(merged.providers.map(\.snapshot.accountEmail) == row.names)
        }
    }

    @Test("no card has anything of two that contradict, in any order", arguments: [41, 42, 43, 44, 45, 46] as [UInt64])
    func generated(seed: UInt64) throws {
        var random = GeneratedSnapshots(seed: seed)
        let addresses = ["-", "-", "a", "A ", "b"]
        let plans = ["-", "Plus", "plus", "Business", "Max", "Max 5x", "Max 20x"]
        for round in 1...50 {
            let machines = (0..<random.int(1...4)).map { _ in
                (0..<random.int(0...2)).map { _ in
                    addresses.randomElement(using: &random.generator)! + "/"
                        + plans.randomElement(using: &random.generator)!
                }
            }
            let place: Comment = "seed \(seed) round \(round): \(machines)"
            let snapshots = Self.snapshots(machines)
            let merged = SnapshotMerge.merge(snapshots, now: GeneratedSnapshots.now)
            for order in snapshots.permutations {
                try #require(SnapshotMerge.merge(order, now: GeneratedSnapshots.now) == merged, place)
            }
            let cards = Self.cards(of: merged, in: snapshots)
            try #require(cards.flatMap { $0 }.sorted() == machines.flatMap { $0 }.sorted(), place)
            for (card, provider) in zip(cards, merged.providers) {
                for (left, right) in card.pairs {
                    try #require(!Self.contradict(left, right), place)
                }
                // Each field of a card is unique among all cards.
                let sources = provider.parts.compactMap { part in
                    snapshots.flatMap(\.providers).first { $0.lastUpdated == part.lastUpdated }
                }
                let shown = provider.snapshot
                try #require(sources.contains { $0.windows == shown.windows }, place)
                try #require(sources.contains { $0.credits == shown.credits }, place)
                try #require(sources.contains { $0.budget == shown.budget }, place)
            }
            let names = merged.providers.map { $0.snapshot.accountEmail?.lowercased() ?? "" }
            try #require(Set(names).count == names.count, place)
            let all = machines.flatMap { $0 }
            if machines.allSatisfy({ $0.count < 2 }), !all.isEmpty, all.pairs.allSatisfy({ !Self.contradict($0, $1) }) {
                try #require(cards.count == 1, place)
            }
        }
    }

    /// Independent of the program: whether two cards cannot be of one account.
    private static func contradict(_ left: String, _ right: String) -> Bool {
        let (left, right) = (fields(left), fields(right))
        if let one = left.address, let other = right.address,
            one.trimmingCharacters(in: .whitespaces).lowercased()
                != other.trimmingCharacters(in: .whitespaces).lowercased()
        {
            return true
        }
        guard let one = left.plan?.lowercased(), let other = right.plan?.lowercased() else { return false }
        let agreeing = [["max", "max 5x"], ["max", "max 20x"]]
        return one != other && !agreeing.contains([one, other].sorted())
    }

    private static func fields(_ card: String) -> (address: String?, plan: String?) {
        let parts = card.split(separator: "/").map { $0 == "-" ? nil : String($0) }
        return (parts[0], parts[1])
    }

    private static func snapshots(_ machines: Machines) -> [SyncedUsageSnapshot] {
        var number = 0
        return machines.enumerated().map { index, cards in
            SyncedUsageSnapshot(
                providers: cards.map { card in
                    number += 1
                    let (address, plan) = fields(card)
                    return ProviderUsageSnapshot(
                        providerID: "claude", providerName: "Claude",
                        primary: SyncRateWindow(usedPercent: Double(number)), accountEmail: address, loginMethod: plan,
                        lastUpdated: GeneratedSnapshots.now.addingTimeInterval(Double(-number)),
                        budget: SyncBudget(usedAmount: Double(number), limitAmount: 100, currencyCode: "USD"),
                        credits: SyncCredits(balance: Double(number)))
                }, syncTimestamp: GeneratedSnapshots.now, deviceName: "machine \(index)",
                deviceID: "id-\(index)")
        }
    }

    /// The cards of each merged one.
    private static func cards(of merged: MergedUsage, in snapshots: [SyncedUsageSnapshot]) -> [[String]] {
        let all = snapshots.flatMap(\.providers)
        return merged.providers.map { provider in
            provider.parts.compactMap { part in
                all.first { $0.lastUpdated == part.lastUpdated }.map {
                    "\($0.accountEmail ?? "-")/\($0.loginMethod ?? "-")"
                }
            }.sorted()
        }
    }
}

extension Array {
    fileprivate var permutations: [[Element]] {
        guard let last else { return [[]] }
        return Array(dropLast()).permutations.flatMap { rest in
            (0...rest.count).map { rest[..<$0] + [last] + rest[$0...] }
        }.map(Array.init)
    }

    fileprivate var pairs: [(Element, Element)] {
        indices.flatMap { first in self[..<first].map { ($0, self[first]) } }
    }
}
