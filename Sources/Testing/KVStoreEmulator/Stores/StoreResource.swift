import KVStoreCore
import KVStoreWire
import NIOHTTP1

/// A resource below `/emulator/v1/worlds/{world}/stores/`. Names as they are in the path, percent-encoded.
enum StoreResource: Equatable {
    case store(Substring)
    case key(Substring, store: Substring)
    case explanation(key: Substring, store: Substring)

    /// - Parameter parts: the segments of the path after `stores`.
    init?(_ parts: ArraySlice<Substring>) {
        let parts = Array(parts)
        switch parts.count {
        case 1 where !parts[0].isEmpty: self = .store(parts[0])
        case 3 where parts[1] == "keys": self = .key(parts[2], store: parts[0])
        case 4 where parts[1] == "keys" && parts[3] == "explanation":
            self = .explanation(key: parts[2], store: parts[0])
        default: return nil
        }
    }

    var store: Substring {
        switch self {
        case .store(let store), .key(_, let store), .explanation(_, let store): store
        }
    }

    var template: String {
        let start = "/emulator/v1/worlds/{world}/stores/{store}"
        return switch self {
        case .store: start
        case .key: start + "/keys/{key}"
        case .explanation: start + "/keys/{key}/explanation"
        }
    }

    var methods: [HTTPMethod] {
        switch self {
        case .store, .explanation: [.GET, .HEAD]
        case .key: [.GET, .HEAD, .PUT, .DELETE]
        }
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
