import KVStoreEssentials
package import KVStoreWire

/// Where devices, accounts and pairing codes are durable: the files of a data directory, or a database. Calls block.
package protocol DeviceStorage: Sendable {
    /// The selected devices and accounts.
    func table(_ selection: DeviceSelection) throws(ServerError) -> DeviceTable

    var hasDevices: Bool { get throws(ServerError) }

    /// Changes the selected devices and accounts; durable on return. No other change of them happens meanwhile, and an
    /// error changes nothing. `body` must not touch what is not selected.
    func change<Result>(
        _ selection: DeviceSelection, _ body: (inout DeviceTable) throws(ServerError) -> Result
    ) throws(ServerError) -> Result

    /// The same for pairing codes. The argument of `body` reads the devices of an account, which cannot disappear
    /// meanwhile if the codes of an account are selected.
    func changePairings<Result>(
        _ selection: PairingSelection,
        _ body: (
            inout PairingTable, (_ account: String) throws(ServerError) -> DeviceTable
        ) throws(ServerError) -> Result
    ) throws(ServerError) -> Result

    /// The oldest account under removal.
    var removedAccount: Account? { get throws(ServerError) }

    /// Runs `body` while no other server removes accounts; returns false if another does. The argument throws once the
    /// lock is lost.
    func removeAccounts(_ body: (_ checkLock: () throws -> Void) throws -> Void) throws -> Bool
}

/// Which devices and accounts a change is about. A storage may include more.
package enum DeviceSelection: Sendable, Equatable {
    case all
    case account(String)
    /// With this id or name in any account.
    case device(String)

    /// - Parameter account: nil for any.
    package init(_ device: String, account: String?) {
        self = account.map(Self.account) ?? .device(device)
    }
}

/// Which pairing codes a change is about. A storage may include more.
package enum PairingSelection: Sendable, Equatable {
    case account(String)
    /// With this id.
    case code(String)
}

extension DeviceStorage {
    // MARK: - Devices

    /// Adds a device with a new token.
    ///
    /// - Parameters:
    ///   - isRenamed: whether the device gets another name if the account has one of this name.
    ///   - former: of the token of the device that it replaces, which gives the name up, and is removed by its owner.
    ///   - maker: the id of the device that permits it; it must still be an administrator.
    package func add(
        _ name: String, _ permissions: DevicePermissions, isRenamed: Bool = false, former: TokenDigest? = nil,
        maker: String? = nil
    ) throws(ServerError) -> (device: Device, token: String) {
        var random = SystemRandomNumberGenerator()
        let token = DeviceToken(permissions.isPage ? .page : .bearer, using: &random)
        var device = Device(
            name, permissions, id: DeviceTable.newID(), created: ServerClock.wallMilliseconds(),
            tokenSHA256: token.digest)
        try change(.account(device.account)) { table throws(ServerError) in
            try table.checkPresent(account: device.account)
            if let maker, !table.isAdministrator(maker) {
                throw .invalidDevice("the device that made the code has been removed")
            }
            if isRenamed { device.name = try table.takeName(name, account: device.account, former: former) }
            try table.add(device)
        }
        return (device, token.text)
    }

    /// Throws the error with which `add` would refuse the device.
    package func check(_ name: String, _ permissions: DevicePermissions, isRenamed: Bool = false) throws(ServerError) {
        try table(.account(permissions.account)).check(name, permissions, isRenamed: isRenamed)
    }

    // MARK: - Pairing codes

    /// Makes a code that adds one device within ten minutes.
    ///
    /// - Parameters:
    ///   - name: the device's name; nil if the device proposes it.
    ///   - maker: the id of the device that makes it; once that is no administrator any more, the code is void.
    ///   - now: milliseconds since 1970; nil for the system's clock.
    package func addPairing(
        name: String?, _ permissions: DevicePermissions, maker: String? = nil, now: Int64? = nil
    ) throws(ServerError) -> PairingCode {
        let now = now ?? ServerClock.wallMilliseconds()
        var random = SystemRandomNumberGenerator()
        let code = PairingCode(using: &random)
        let pairing = Pairing(
            id: code.id, codeSHA256: TokenDigest(of: code.text), name: name, permissions, maker: maker, created: now)
        let account = permissions.account
        try changePairings(.account(account)) { table, devices throws(ServerError) in
            // Under the lock: the removal of the account removes its pairings after it has become visible.
            try devices(account).checkPresent(account: account)
            try table.add(pairing, now: now)
        }
        return code
    }

    func removePairings(ofAccount account: String) throws(ServerError) {
        try changePairings(.account(account)) { table, _ in table.removeAll(ofAccount: account) }
    }

    // MARK: - Accounts

    package func addAccount(_ name: String, byteLimit: Int? = nil, storeLimit: Int? = nil) throws(ServerError) {
        try change(.account(name)) { table throws(ServerError) in
            try table.add(
                Account(
                    name: name, created: ServerClock.wallMilliseconds(), byteLimit: byteLimit, storeLimit: storeLimit))
        }
    }

    /// Changes the limits of an account that exists; returns it.
    package func limitAccount(_ name: String, _ body: (inout Account) -> Void) throws(ServerError) -> Account {
        try change(.account(name)) { table throws(ServerError) in
            try table.limitAccount(name, now: ServerClock.wallMilliseconds(), body)
        }
    }

    /// Whether a removal of the account has begun and not ended.
    package func isBeingRemoved(account: String) throws(ServerError) -> Bool {
        try table(.account(account)).account(account)?.removed != nil
    }

    /// Removes the devices of an account at once, and marks it for the removal of its stores.
    package func beginRemoval(ofAccount name: String) throws(ServerError) {
        try change(.account(name)) { table throws(ServerError) in
            try table.beginRemoval(ofAccount: name, now: ServerClock.wallMilliseconds())
        }
    }

    /// Throws the error with which `beginRemoval` would refuse the account.
    package func checkRemoval(ofAccount name: String) throws(ServerError) {
        var table = try table(.account(name))
        try table.beginRemoval(ofAccount: name, now: 0)
    }

    func finishRemoval(ofAccount name: String) throws(ServerError) {
        try change(.account(name)) { table in table.finishRemoval(ofAccount: name) }
    }
}
