import KVStoreCore
import KVStoreSimulation
import KVStoreWire
import NIOCore

/// What an emulator knows of a world besides its stores.
struct EmulatedWorld: Sendable {
    struct Device: Sendable {
        var faults = NetworkFaults()
        /// Nil while the device is signed out.
        var account: String? = DeviceAccount.defaultName
        /// By store: how far the device was with the account that it had before.
        var formerCursors: [String: SyncCursor] = [:]
    }

    /// A write that a strict world refused.
    struct Violation: Sendable, Equatable, Codable {
        var time: Int64
        var device: String
        var store: String
        var call: String
        var detail: String
        var limit: Int
    }

    static let violationCount = 256

    var clock = WorldClock()
    var settings: WorldSettings
    var devices: [String: Device] = [:]
    private(set) var violations = CircularBuffer<Violation>()
    private var random: SplitMix64

    init(settings: WorldSettings) {
        self.settings = settings
        random = SplitMix64(seed: settings.seed)
    }

    mutating func restartRandomness() { random = SplitMix64(seed: settings.seed) }

    mutating func record(_ violation: Violation) {
        if violations.count == Self.violationCount { violations.removeFirst() }
        violations.append(violation)
    }

    /// Decides about a message of a device that is sent now; nil stands for the opening of a stream.
    mutating func send(_ message: NetworkFault.Message?, of device: String) -> NetworkFaults.Outcome {
        guard devices[device] != nil else { return .arrives([0]) }
        return devices[device]!.faults.send(message, random: &random)
    }
}

/// An account of a world, which names the stores that a device sees.
enum EmulatedAccount {
    /// As the engine names it: the world, and after a slash, which no world contains, the account.
    static func id(_ account: String, in world: String) -> String {
        account == DeviceAccount.defaultName ? world : world + "/" + account
    }

    static func world(of id: String) -> String {
        String(id.prefix { $0 != "/" })
    }

    static func name(of id: String) -> String {
        id.firstIndex(of: "/").map { String(id[id.index(after: $0)...]) } ?? DeviceAccount.defaultName
    }
}

/// Stores of worlds. A world is an account; another account in it is `WORLD/ACCOUNT`.
extension StoreID {
    /// - Parameter account: a valid name, or nil for the account that a world begins with.
    init(world: String, account: String?, name: String) {
        self.init(account: EmulatedAccount.id(account ?? DeviceAccount.defaultName, in: world), name: name)
    }

    var world: String { EmulatedAccount.world(of: account) }

    /// Nil for the account that a world begins with.
    var otherAccount: String? {
        account == world ? nil : EmulatedAccount.name(of: account)
    }
}
