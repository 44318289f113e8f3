/// Groups readings by provider account: the one rule for which cards are of one account.
///
/// Cards are one account only if nothing contradicts. Two contradict if both state an address and these differ, if both
/// state a plan and these differ, or if one device states both: it knows why it has two. So
/// - an address is one account, except that each of its plans is one: one address may have a personal and a business
///   account;
/// - a card without an address is that of the only account with one that it does not contradict, unless another such
///   card could be it too;
/// - what is unknown and could be two that contradict each other stays a card of its own.
///
/// The result does not depend on the order of the readings.
enum AccountGroups {
    /// Ordered by provider id, address and plan, the unknown last; readings keep their order.
    static func grouped(_ readings: [MergeReading]) -> [[MergeReading]] {
        let byProvider = Dictionary(grouping: readings, by: \.provider.providerID)
        return byProvider.keys.sorted().flatMap { providerID in
            accounts(of: byProvider[providerID] ?? [])
        }
    }

    private static func accounts(of readings: [MergeReading]) -> [[MergeReading]] {
        let byAddress = Dictionary(grouping: readings, by: \.account?.key)
        var named = byAddress.keys.compactMap { $0 }.sorted().flatMap { byPlan(byAddress[$0] ?? []) }
        let unnamed = byPlan(byAddress[nil] ?? [])
        guard unnamed.count * named.count <= pairLimit else { return (named + unnamed).map(\.readings) }
        // Addresses contradict each other, and so do the plans of cards without one: only pairs can be one account.
        let candidates = unnamed.map { group in
            group.isAmbiguous
                ? []
                : named.indices.filter {
                    !named[$0].isAmbiguous && !group.contradicts(named[$0])
                }
        }
        var counts: [Int: Int] = [:]
        for index in candidates.joined() { counts[index, default: 0] += 1 }
        var rest: [Group] = []
        for (group, candidates) in zip(unnamed, candidates) {
            if candidates.count == 1, counts[candidates[0]] == 1 {
                named[candidates[0]].readings += group.readings
                named[candidates[0]].readings.sort(by: MergeReading.isBefore)
            } else {
                rest.append(group)
            }
        }
        return (named + rest).map(\.readings)
    }

    /// Where there are more than anybody has, none are joined.
    private static let pairLimit = 10_000

    /// The accounts among cards with one address, or without any.
    private static func byPlan(_ readings: [MergeReading]) -> [Group] {
        let byName = separated(readings, by: \.plan?.name)
        return byName.flatMap { readings in
            let groups = separated(readings, by: \.plan?.multiple)
            return groups.map { group in
                func isUnknown(_ value: (MergeReading) -> String?) -> Bool {
                    group.allSatisfy { value($0) == nil }
                }
                return Group(
                    readings: group,
                    isAmbiguous: byName.count > 1 && isUnknown { $0.plan?.name }
                        || groups.count > 1 && isUnknown { $0.plan?.multiple })
            }
        }
    }

    /// A group for each known value; what is unknown is in the only one, else in its own.
    private static func separated(_ readings: [MergeReading], by value: (MergeReading) -> String?) -> [[MergeReading]] {
        let byValue = Dictionary(grouping: readings, by: value)
        let known = byValue.keys.compactMap { $0 }.sorted()
        if known.count <= 1 { return readings.isEmpty ? [] : [readings] }
        return known.compactMap { byValue[$0] } + (byValue[nil].map { [$0] } ?? [])
    }

    /// Cards with one address, or without any, and with one plan.
    private struct Group {
        var readings: [MergeReading]
        /// Whether it could be several others with this address, or without any, that contradict each other.
        let isAmbiguous: Bool
        private let plan: (name: String?, multiple: String?)
        private let devices: Set<String>

        init(readings: [MergeReading], isAmbiguous: Bool) {
            self.readings = readings
            self.isAmbiguous = isAmbiguous
            plan = (readings.lazy.compactMap(\.plan?.name).first, readings.lazy.compactMap(\.plan?.multiple).first)
            devices = Set(readings.map(\.device.key))
        }

        func contradicts(_ other: Group) -> Bool {
            func differ(_ one: String?, _ other: String?) -> Bool {
                one != nil && other != nil && one != other
            }
            return differ(plan.name, other.plan.name) || differ(plan.multiple, other.plan.multiple)
                || !devices.isDisjoint(with: other.devices)
        }
    }
}

extension MergeReading {
    /// A plan as cards are compared by it: "Max 5x" and "Claude Max" do not contradict, "Max 5x" and "Max 20x" do.
    struct Plan: Equatable {
        /// Lower case, without the name of the provider.
        let name: String
        /// "5x" of a plan that is sold in several sizes.
        let multiple: String?

        /// Nil without a name.
        init?(_ card: ProviderUsageSnapshot) {
            guard let text = card.loginMethod, text.utf8.count <= Self.byteLimit else { return nil }
            let own = Set(Self.words(card.providerName) + [card.providerID, "chatgpt", "plan"])
            var words = Self.words(text).filter { !own.contains($0) }
            let multiple = words.last.flatMap { word in
                word.last == "x" && word.dropLast().allSatisfy(\.isNumber) && word.count > 1 ? word : nil
            }
            if multiple != nil { words.removeLast() }
            guard !words.isEmpty else { return nil }
            name = words.joined(separator: " ")
            self.multiple = multiple
        }

        /// A longer text is none.
        private static let byteLimit = 1_024

        private static func words(_ text: String) -> [String] {
            text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
        }
    }
}
