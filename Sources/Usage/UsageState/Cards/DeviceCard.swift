package import Essentials
package import KVStoreWire
import SnapshotModels
import TerminalText

/// A device of the account, as the daemon knows it.
package struct KnownDevice: Sendable, Equatable {
    package var id: String
    package var name: String
    package var isConnected: Bool
    /// Nil before the first time since the daemon started.
    package var lastSeen: Date?
    /// Whether it may push.
    package var mayWrite: Bool
    package var isPage: Bool
    /// Whether it is the one that shows it: while the daemon answers, it is online.
    package var isThis: Bool

    package init(
        id: String, name: String, isConnected: Bool, lastSeen: Date?, mayWrite: Bool = true,
        isPage: Bool = false, isThis: Bool = false
    ) {
        self.id = id
        self.name = name
        self.isConnected = isConnected
        self.lastSeen = lastSeen
        self.mayWrite = mayWrite
        self.isPage = isPage
        self.isThis = isThis
    }

    /// - Parameter id: of the device that shows it; nil if that is none of the account, or it is not known which.
    package init(_ device: DaemonDevice, shownBy id: String? = nil) {
        self.init(
            id: device.deviceID, name: device.device, isConnected: device.connected,
            lastSeen: device.lastSeen.map { Date(timeIntervalSince1970: Double($0) / 1_000) },
            mayWrite: device.scopes.contains("write"), isPage: device.page ?? false, isThis: device.deviceID == id)
    }
}

/// What the daemon says about the devices of the account.
package enum KnownDevices: Sendable, Equatable {
    case notAsked
    case unreachable
    /// What it said last, before it became unreachable from this machine.
    case lastKnown([KnownDevice])
    case known([KnownDevice])

    package var devices: [KnownDevice] {
        get {
            switch self {
            case .notAsked, .unreachable: []
            case .lastKnown(let devices), .known(let devices): devices
            }
        }
        set {
            switch self {
            case .notAsked, .unreachable: break
            case .lastKnown: self = .lastKnown(newValue)
            case .known: self = .known(newValue)
            }
        }
    }

    /// What the daemon says about one of them; nil stands for a device that it does not list.
    package func presence(of device: KnownDevice?) -> ServerPresence {
        switch (self, device) {
        case (.notAsked, _): .notAsked
        case (.unreachable, _), (_, nil): .unreachable
        case (.lastKnown, let device?):
            device.isThis ? .notConnected(lastSeen: device.lastSeen) : .unreachable
        case (.known, let device?):
            device.isConnected || device.isThis ? .connected : .notConnected(lastSeen: device.lastSeen)
        }
    }
}

/// What is said about a device: one that pushes, or another of the account. Strings are escaped.
package struct DeviceCard: Sendable, Equatable {
    /// The same as long as the device exists.
    package let id: String
    package let name: String
    /// Nil for a device of which the daemon says nothing.
    package let known: KnownDevice?
    /// Nil for a device that has pushed nothing.
    package let pushed: DeviceState?
    package let presence: Timed<DevicePresence>

    /// Those that push by name, then the others. Of pushes of one device the newest counts.
    package static func list(_ pushed: [DeviceState], _ known: KnownDevices) -> [DeviceCard] {
        let newest = Dictionary(
            pushed.compactMap { device in device.daemonID.map { ($0, device) } },
            uniquingKeysWith: { $0.lastPush < $1.lastPush ? $1 : $0 })
        let matches = known.devices.matches(of: pushed.map { ($0.daemonID, $0.name) })
        let cards = zip(pushed, matches).compactMap { device, match -> DeviceCard? in
            if let id = device.daemonID, newest[id] != device { return nil }
            return DeviceCard(device, match, known)
        }
        // Where several have the name of one that pushes, it is not known which has pushed nothing.
        let labels = Set(pushed.filter { $0.daemonID == nil }.map(\.name.hostLabel))
        let others = known.devices.filter {
            newest[$0.id] == nil && (!$0.mayWrite || !labels.contains($0.name.hostLabel))
        }
        return cards + others.map { DeviceCard(nil, $0, known) }
    }

    private init(_ pushed: DeviceState?, _ known: KnownDevice?, _ all: KnownDevices) {
        id = pushed?.id ?? known?.id ?? "name " + (pushed?.name ?? "")
        name = VisibleText.escape(known?.name ?? pushed?.name ?? "")
        self.known = known
        self.pushed = pushed
        presence = DevicePresence.byTime(server: all.presence(of: known), lastPush: pushed?.lastPush)
    }

    /// "pushed 3 min ago", "last seen 2 h ago".
    package func remark(on presence: DevicePresence) -> TimedText {
        let push = pushed?.lastPush
        if presence == .offline || presence == .unknown, let seen = known?.lastSeen ?? push {
            return "last seen \(ago: seen)"
        }
        if presence == .offline { return "" }
        return push.map { "pushed \(ago: $0)" } ?? "has pushed nothing"
    }
}

extension DevicePresence {
    package var tone: Tone {
        switch self {
        case .online, .active, .unchecked, .unknown: .plain
        case .notReporting, .offline, .stale, .clockAhead: .warning
        }
    }

    package var reason: String {
        switch self {
        case .online: "the daemon holds a connection to it"
        case .notReporting:
            "the daemon holds a connection to it, but nothing was pushed for 5 minutes"
        case .offline: "the daemon holds no connection to it"
        case .active: "it pushed within the last 5 minutes; the daemon says nothing about it"
        case .stale: "it pushed nothing for 5 minutes; the daemon says nothing about it"
        case .unknown: "neither the daemon nor a push says anything about it"
        case .clockAhead: "its last push is in the future"
        case .unchecked: "the daemon has not been asked yet"
        }
    }

    package var nextStep: String? {
        switch self {
        case .online, .active, .unchecked: nil
        case .notReporting, .stale: "check usage-push there: usage-push service status"
        case .offline: "switch it on, or check its network, and there: usage-push service status"
        case .unknown: "check that kvsd is reachable from here: kvs status"
        case .clockAhead: "set its clock, or this machine's"
        }
    }
}

extension DeviceCard: Encodable {
    private enum CodingKeys: CodingKey { case id, name, daemonID, isPage, pushes, version, states }

    private struct State: Sendable, Equatable, Encodable {
        var word: String
        var tone: Tone
        var note: TimedText
        var reason: String
        var next: String?
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(known?.id, forKey: .daemonID)
        try container.encode(known?.isPage ?? false, forKey: .isPage)
        try container.encode(pushed != nil, forKey: .pushes)
        try container.encodeIfPresent(pushed?.appVersion.map(VisibleText.escape), forKey: .version)
        let states = presence.map { presence in
            State(
                word: presence.word, tone: presence.tone, note: remark(on: presence),
                reason: presence.reason, next: presence.nextStep)
        }
        try container.encode(states, forKey: .states)
    }
}
