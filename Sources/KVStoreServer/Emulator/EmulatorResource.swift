import NIOHTTP1

/// A resource below `/emulator/v1/`.
enum EmulatorResource: Equatable {
    case worlds, events
    /// Names as they are in the path, percent-encoded.
    case world(Substring)
    case export(world: Substring)
    case worldEvents(world: Substring)
    case store(StoreResource, world: Substring)

    static let start = "/emulator/v1/"

    /// - Parameter path: without the query.
    init?(path: Substring) {
        let parts = path.dropFirst(Self.start.count)
            .split(separator: "/", omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("events", 1): self = .events
        case ("worlds", 1): self = .worlds
        case ("worlds", 2) where !parts[1].isEmpty: self = .world(parts[1])
        case ("worlds", 3) where !parts[1].isEmpty && parts[2] == "export":
            self = .export(world: parts[1])
        case ("worlds", 3) where !parts[1].isEmpty && parts[2] == "events":
            self = .worldEvents(world: parts[1])
        case ("worlds", 4...) where !parts[1].isEmpty && parts[2] == "stores":
            guard let resource = StoreResource(parts[3...]) else { return nil }
            self = .store(resource, world: parts[1])
        default: return nil
        }
    }

    var template: String {
        switch self {
        case .worlds: "/emulator/v1/worlds"
        case .events: "/emulator/v1/events"
        case .world: "/emulator/v1/worlds/{world}"
        case .export: "/emulator/v1/worlds/{world}/export"
        case .worldEvents: "/emulator/v1/worlds/{world}/events"
        case .store(let resource, _): resource.template
        }
    }

    var methods: [HTTPMethod] {
        switch self {
        case .worlds, .world: [.GET, .HEAD, .DELETE]
        case .export: [.GET, .HEAD, .PUT]
        case .events, .worldEvents: [.GET]
        case .store(let resource, _): resource.methods
        }
    }
}
