import NIOHTTP1
import KVStoreServer

/// A resource below `/emulator/v1/`, a file of the page, or the account of a device.
enum EmulatorResource: Sendable, Equatable {
    /// The account of the device that asks.
    case account
    /// What there is.
    case index
    case worlds, events
    /// Names as they are in the path, percent-encoded.
    case world(Substring)
    case export(world: Substring)
    case worldEvents(world: Substring)
    case page(PageFile)
    case control(WorldControl, of: Substring)
    case store(StoreResource, world: Substring)

    static let start = "/emulator/v1/"

    /// - Parameter path: without the query.
    init?(path: Substring) {
        guard path.hasPrefix(Self.start), path != Self.start else {
            switch path {
            case "/v1/account":
                self = .account
                return
            case "/emulator/v1", "/emulator/v1/":
                self = .index
                return
            default: break
            }
            guard let file = EmulatorPage.files.file(at: path) else { return nil }
            self = .page(file)
            return
        }
        let parts = path.dropFirst(Self.start.count).split(separator: "/", omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("events", 1): self = .events
        case ("worlds", 1): self = .worlds
        case ("worlds", 2) where !parts[1].isEmpty: self = .world(parts[1])
        case ("worlds", 3) where !parts[1].isEmpty && parts[2] == "export": self = .export(world: parts[1])
        case ("worlds", 3) where !parts[1].isEmpty && parts[2] == "events": self = .worldEvents(world: parts[1])
        case ("worlds", 4...) where !parts[1].isEmpty && parts[2] == "stores":
            guard let resource = StoreResource(parts[3...]) else { return nil }
            self = .store(resource, world: parts[1])
        case ("worlds", 3...) where !parts[1].isEmpty:
            guard let control = WorldControl(parts.dropFirst(2)) else { return nil }
            self = .control(control, of: parts[1])
        default: return nil
        }
    }

    var template: String {
        switch self {
        case .account: "/v1/account"
        case .index: "/emulator/v1"
        case .worlds: "/emulator/v1/worlds"
        case .events: "/emulator/v1/events"
        case .world: "/emulator/v1/worlds/{world}"
        case .export: "/emulator/v1/worlds/{world}/export"
        case .worldEvents: "/emulator/v1/worlds/{world}/events"
        case .page(let page): page.template
        case .control(let control, _): "/emulator/v1/worlds/{world}/\(control.template)"
        case .store(let resource, _): resource.template
        }
    }

    var methods: [HTTPMethod] {
        switch self {
        case .worlds, .world: [.GET, .HEAD, .DELETE]
        case .export: [.GET, .HEAD, .PUT]
        case .account, .events, .worldEvents: [.GET]
        case .page, .index: [.GET, .HEAD]
        case .store(let resource, _): resource.methods
        case .control(let control, _): control.methods
        }
    }
}

extension EmulatorResource {
    /// Those below `/emulator/v1`, with the names of their paths in braces.
    static let listed: [EmulatorResource] = [
        .worlds, .events, .world("{world}"), .export(world: "{world}"),
        .worldEvents(world: "{world}"), .store(.store("{store}"), world: "{world}"),
        .store(.key("{key}", store: "{store}"), world: "{world}"),
        .store(.explanation(key: "{key}", store: "{store}"), world: "{world}"),
        .control(.clock, of: "{world}"), .control(.settings, of: "{world}"),
        .control(.violations, of: "{world}"), .control(.settle, of: "{world}"),
        .control(.faults(device: "{device}"), of: "{world}"),
        .control(.fault(device: "{device}", id: 1), of: "{world}"),
        .control(.account(device: "{device}"), of: "{world}"),
    ]
}

/// The answer to `GET /emulator/v1`. As JSON: fields are added, never renamed or removed.
struct ResourceList: Encodable {
    private struct Entry: Encodable {
        var path: String
        var methods: [String]
    }

    private let documentation = "docs/emulator.md"
    private let resources = EmulatorResource.listed.map { resource in
        Entry(path: resource.template, methods: resource.methods.filter { $0 != .HEAD }.map(\.rawValue))
    }
}

/// What controls a world. Names are as they are in the path.
enum WorldControl: Equatable {
    case clock, settings, violations, settle
    case faults(device: Substring)
    case fault(device: Substring, id: Int)
    case account(device: Substring)

    /// - Parameter parts: of the path below the world.
    init?(_ parts: ArraySlice<Substring>) {
        let parts = Array(parts)
        switch (parts[0], parts.count) {
        case ("clock", 1): self = .clock
        case ("settings", 1): self = .settings
        case ("violations", 1): self = .violations
        case ("settle", 1): self = .settle
        case ("devices", 3) where parts[2] == "faults": self = .faults(device: parts[1])
        case ("devices", 3) where parts[2] == "account": self = .account(device: parts[1])
        case ("devices", 4) where parts[2] == "faults":
            guard let id = Int(parts[3]) else { return nil }
            self = .fault(device: parts[1], id: id)
        default: return nil
        }
    }

    var template: String {
        switch self {
        case .clock: "clock"
        case .settings: "settings"
        case .violations: "violations"
        case .settle: "settle"
        case .faults: "devices/{device}/faults"
        case .fault: "devices/{device}/faults/{id}"
        case .account: "devices/{device}/account"
        }
    }

    var methods: [HTTPMethod] {
        switch self {
        case .clock, .settings: [.GET, .HEAD, .PUT]
        case .violations: [.GET, .HEAD]
        case .settle: [.POST]
        case .faults: [.GET, .HEAD, .POST, .DELETE]
        case .fault: [.DELETE]
        case .account: [.PUT]
        }
    }
}
