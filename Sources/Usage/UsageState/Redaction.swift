import Essentials
import SnapshotModels

/// Invented names in the place of real ones, for screenshots. A real name has the same invented one every time, except
/// that of two which would get the same one the later in the alphabet gets a number.
package struct Redaction: Sendable, Equatable {
    private var accounts: [String: String]
    private var devices: [String: String]

    private static let people = [
        "ada", "alan", "barbara", "claude", "donald", "edsger", "frances", "grace", "hedy", "john",
        "katherine", "ken", "leslie", "margaret", "niklaus", "radia",
    ]
    private static let trees = [
        "alder", "ash", "beech", "birch", "cedar", "elm", "fir", "hazel", "larch", "linden",
        "maple", "oak", "pine", "rowan", "spruce", "willow",
    ]

    package init(accounts: Set<String>, devices: Set<String>) {
        self.accounts = Self.invented(accounts, from: Self.people)
        self.devices = Self.invented(devices, from: Self.trees)
    }

    package init(_ data: UsageData) {
        guard case .usage(let usage) = data.stored else {
            self.init(accounts: [], devices: [])
            return
        }
        self.init(
            accounts: Set(usage.providers.compactMap(\.snapshot.accountEmail)), devices: Set(usage.devices.map(\.name)))
    }

    package func account(_ name: String) -> String {
        (accounts[name] ?? Self.people[Self.index(of: name)]) + "@example.test"
    }

    package func device(_ name: String) -> String { devices[name] ?? Self.trees[Self.index(of: name)] }

    /// An id without anything of the real one, the same every time.
    package static func id(_ id: String) -> String {
        "00000000-0000-4000-8000-"
            + String(hash(id) & 0xFFFF_FFFF_FFFF, radix: 16)
            .padded(to: 12)
    }

    private static func invented(_ names: Set<String>, from list: [String]) -> [String: String] {
        var result: [String: String] = [:]
        var counts: [String: Int] = [:]
        for name in names.sorted() {
            let invented = list[index(of: name)]
            let count = counts[invented, default: 0] + 1
            counts[invented] = count
            result[name] = count == 1 ? invented : "\(invented)\(count)"
        }
        return result
    }

    private static func index(of name: String) -> Int { Int(hash(name) % 16) }

    /// The same in every process.
    private static func hash(_ text: String) -> UInt64 {
        let hash = FNV1a.hash(text.lowercased().utf8)
        return hash ^ (hash >> 32)
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - utf8.count)) + self
    }
}

extension UsageData {
    /// The same usage with invented accounts, devices and projects, and without texts that may name them.
    package var redacted: UsageData {
        var data = redactedUsage
        data.year = year
        // Its names are only compared, and ids are enough for that.
        data.known.devices = known.devices.map { device in
            var device = device
            device.id = Redaction.id(device.id)
            return device
        }
        return data
    }

    private var redactedUsage: UsageData {
        let redaction = Redaction(self)
        guard case .usage(var usage) = stored else {
            return UsageData(link: link, stored: stored, history: history.renamed(redaction.account))
        }
        let names = Dictionary(
            usage.providers.map { ($0.snapshot.accountKey, $0.snapshot.accountEmail) },
            uniquingKeysWith: { first, _ in first })
        usage.devices = usage.devices.map { device in
            var device = device
            device.name = redaction.device(device.name)
            device.deviceID = device.deviceID.map(Redaction.id)
            device.daemonDeviceID = device.daemonDeviceID.map(Redaction.id)
            return device
        }
        usage.providers = usage.providers.map { $0.redacted(redaction) }
        var data = UsageData(
            link: link, stored: .usage(usage), history: history.renamed { redaction.account((names[$0] ?? nil) ?? $0) })
        for (id, var paused) in waits {
            for index in paused.waits.indices {
                paused.waits[index].account = paused.waits[index].account.map(redaction.account)
            }
            data.waits[Redaction.id(id)] = paused
        }
        return data
    }
}

extension MergedProvider {
    fileprivate func redacted(_ redaction: Redaction) -> MergedProvider {
        var provider = self
        provider.snapshot.accountEmail = snapshot.accountEmail.map(redaction.account)
        provider.snapshot.statusMessage = snapshot.statusMessage.map { _ in "(text redacted)" }
        provider.snapshot.costSummary = snapshot.costSummary?.redacted
        provider.parts = parts.map { part in
            var part = part
            part.deviceName = redaction.device(part.deviceName)
            part.deviceID = part.deviceID.map(Redaction.id)
            part.account = part.account.map(redaction.account)
            part.costSummary = part.costSummary?.redacted
            return part
        }
        return provider
    }
}

extension SyncCostSummary {
    /// Services may be projects; models are not.
    fileprivate var redacted: SyncCostSummary {
        var summary = self
        summary.daily = daily?.map { day in
            var day = day
            day.serviceBreakdowns = day.serviceBreakdowns?.enumerated().map { index, part in
                SyncCostBreakdown(label: "project \(index + 1)", costUSD: part.costUSD)
            }
            return day
        }
        return summary
    }
}
