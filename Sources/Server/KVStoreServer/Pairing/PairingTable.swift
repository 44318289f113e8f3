import Essentials
import KVStoreEssentials
import KVStoreWire

/// The permission to add one device, for whoever knows the code.
package struct Pairing: Sendable, Equatable, Codable {
    package enum State: String, Sendable, Codable {
        case pending, used
        /// Too many wrong codes named it.
        case void
    }

    /// The public part of the code.
    package var id: String
    var codeSHA256: TokenDigest
    /// The device's name; nil if the device proposes it.
    var name: String?
    package var account: String
    var isReadOnly: Bool
    /// The only stores that the device will see; nil for all of its account.
    var stores: [String]?
    /// The id of the device that made it; nil if it was made on the server.
    package var maker: String?
    /// Stored only if true.
    var admin: Bool?
    var trusted: Bool?
    var page: Bool?
    /// Milliseconds since 1970.
    package var created: Int64
    var state = State.pending
    var wrongCodeCount = 0

    init(
        id: String, codeSHA256: TokenDigest, name: String? = nil,
        _ permissions: DevicePermissions = .init(), maker: String? = nil, created: Int64
    ) {
        self.id = id
        self.codeSHA256 = codeSHA256
        self.name = name
        account = permissions.account
        isReadOnly = permissions.isReadOnly
        stores = permissions.stores
        self.maker = maker
        admin = permissions.isAdmin ? true : nil
        trusted = permissions.isTrusted ? true : nil
        page = permissions.isPage ? true : nil
        self.created = created
    }

    /// What the device may do.
    var permissions: DevicePermissions {
        DevicePermissions(
            account: account, isReadOnly: isReadOnly, stores: stores, isAdmin: admin ?? false,
            isTrusted: trusted ?? false, isPage: page ?? false)
    }

    static let lifetimeMilliseconds: Int64 = 600_000
    /// How long an ended one is remembered, so that its code can be called used or expired.
    static let memoryMilliseconds: Int64 = 86_400_000
    static let wrongCodeLimit = 10

    /// A clock that was set back does not prolong it.
    func isValid(now: Int64) -> Bool {
        (created - 60_000..<created + Self.lifetimeMilliseconds).contains(now)
    }
}

/// All pairings of a server, as pairings.json holds them.
package struct PairingTable: Sendable, Equatable, Codable {
    private var version = 1
    package private(set) var pairings: [Pairing] = []

    static let count = 1_000
    /// Codes of one device that are valid at a time.
    static let countPerMaker = 20
    static let byteCount = 4 * 1_024 * 1_024

    package init(_ pairings: [Pairing] = []) { self.pairings = pairings }

    mutating func add(_ pairing: Pairing, now: Int64) throws(ServerError) {
        pairings.removeAll {
            !(now - Pairing.memoryMilliseconds...now + Pairing.memoryMilliseconds).contains($0.created)
        }
        let isOpen = { (pairing: Pairing) in pairing.state == .pending && pairing.isValid(now: now)
        }
        if pairings.count >= Self.count { pairings.removeAll { !isOpen($0) } }
        let ofMaker = pairings.count { $0.maker == pairing.maker && isOpen($0) }
        guard pairings.count < Self.count, pairing.maker == nil || ofMaker < Self.countPerMaker else {
            throw ServerError(
                .invalidDevice, "too many codes are waiting to be used",
                hint: "wait ten minutes, or use 'kvsd device add' on the server")
        }
        pairings.append(pairing)
    }

    /// The pairing that the code belongs to, which `markUsed` has to follow, or why there is none. A wrong code is
    /// counted.
    mutating func redeem(_ code: PairingCode, now: Int64) -> Result<Pairing, Problem> {
        guard let index = pairings.firstIndex(where: { $0.id == code.id }) else { return .failure(.wrongCode) }
        let pairing = pairings[index]
        guard pairing.codeSHA256.matches(code.text) else {
            pairings[index].wrongCodeCount += 1
            if pairing.state == .pending, pairings[index].wrongCodeCount >= Pairing.wrongCodeLimit {
                pairings[index].state = .void
            }
            return .failure(.wrongCode)
        }
        switch pairing.state {
        case .used: return .failure(.usedCode)
        case .void: return .failure(.voidCode)
        case .pending:
            return pairing.isValid(now: now) ? .success(pairing) : .failure(.expiredCode)
        }
    }

    mutating func removeAll(ofAccount account: String) {
        pairings.removeAll { $0.account == account }
    }

    mutating func markUsed(_ id: String) {
        if let index = pairings.firstIndex(where: { $0.id == id }) {
            pairings[index].state = .used
        }
    }

    func pairing(id: String) -> Pairing? { pairings.first { $0.id == id } }
}
