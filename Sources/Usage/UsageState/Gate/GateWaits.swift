package import Essentials

/// Agents of one machine that wait for a reset, as they stand under a key of that machine:
///
///     {"waits": [{"tool": "claude", "limit": "Claude Weekly", "since": 1795858017, "until": 1795879617}]}
package struct GateWaits: Sendable, Equatable, Codable {
    package struct Wait: Sendable, Equatable, Codable {
        package var tool: String
        /// "Claude Weekly". Unescaped.
        package var limit: String
        /// Unescaped.
        package var account: String?
        package var since: Date
        /// The reset, or the end of the rule's limit if that is earlier.
        package var until: Date

        package init(tool: String, limit: String, account: String? = nil, since: Date, until: Date) {
            self.tool = tool
            self.limit = limit
            self.account = account
            self.since = since
            self.until = until
        }
    }

    package internal(set) var waits: [Wait]

    package static let countLimit = 32
    private static let byteLimit = 16_384
    private static let keyPrefix = AlertNotice.sharedPrefix + "gate.waits."

    /// - Parameter deviceID: of the machine that writes it.
    package static func storeKey(deviceID: String) -> String { keyPrefix + deviceID }

    static func isKey(_ key: String) -> Bool { key.hasPrefix(keyPrefix) }

    package init(_ waits: [Wait]) {
        self.waits = Array(waits.sorted { ($0.until, $0.tool) < ($1.until, $1.tool) }.prefix(Self.countLimit))
    }

    /// Nil for none.
    package var data: Data? { waits.isEmpty ? nil : StoredJSON.data(of: self) }

    /// The present waits of all machines, by the id of the machine. Damaged values are left out.
    static func all(in values: [String: Data], now: Date) -> [String: GateWaits] {
        var all: [String: GateWaits] = [:]
        for (key, data) in values where isKey(key) {
            let stored = StoredJSON.decode(GateWaits.self, from: data, byteLimit: byteLimit)
            let waits = stored?.waits.filter { $0.until > now && $0.since <= $0.until } ?? []
            if !waits.isEmpty { all[key.dropFirst(keyPrefix.count).lowercased()] = GateWaits(waits) }
        }
        return all
    }
}

/// An agent that a rule of the gate has paused, on any machine. Strings are unescaped.
package struct PausedAgent: Sendable, Equatable, Codable {
    /// The name of its machine; nil if that has not pushed.
    package var device: String?
    package var deviceID: String
    /// "claude".
    package var tool: String
    /// "Claude Weekly".
    package var limit: String
    package var account: String?
    package var since: Date
    /// The reset, or the end of the rule's limit if that is earlier.
    package var until: Date
}

extension ViewModel {
    /// Machine by machine, those that resume first first.
    package var pausedAgents: [PausedAgent] {
        data.waits.sorted { $0.key < $1.key }.flatMap { id, waits in
            let name = devices.first { $0.id?.lowercased() == id }?.name
            return waits.waits.map { wait in
                PausedAgent(
                    device: name, deviceID: id, tool: wait.tool, limit: wait.limit, account: wait.account,
                    since: wait.since, until: wait.until)
            }
        }
    }
}
