import Essentials

/// The accounts: `default`, those that were added, and those that a device of an earlier version names.
extension DeviceTable {
    /// Accounts under removal not counted.
    static let accountCount = 1_000

    package func account(_ name: String) -> Account? { accounts?.first { $0.name == name } }

    /// Those whose devices may use the server.
    var presentAccounts: [String: Account] {
        var present: [String: Account] = [:]
        for name in [Account.defaultName] + devices.map(\.account) {
            present[name] = Account(name: name, created: 0)
        }
        for account in accounts ?? [] {
            present[account.name] = account.removed == nil ? account : nil
        }
        return present
    }

    /// The oldest account under removal.
    var removedAccount: Account? {
        accounts?.filter { $0.removed != nil }.min { ($0.removed ?? 0) < ($1.removed ?? 0) }
    }

    /// Throws unless devices can be added to the account.
    func checkPresent(account name: String) throws(ServerError) {
        guard presentAccounts[name] == nil else { return }
        if account(name)?.removed != nil { throw Self.underRemoval(name) }
        throw .invalidAccount("the account '\(name)' does not exist", "run 'kvsd account add \(name)'")
    }

    package mutating func add(_ account: Account) throws(ServerError) {
        try Self.checkFields(account)
        if self.account(account.name)?.removed != nil { throw Self.underRemoval(account.name) }
        guard presentAccounts[account.name] == nil else {
            throw .invalidAccount(
                "the account '\(account.name)' already exists",
                "change its limits with 'kvsd account limit \(account.name)'")
        }
        try append(account)
    }

    /// Adds an account, or creates the entry of one that has none.
    private mutating func append(_ account: Account) throws(ServerError) {
        let present = (accounts ?? []).filter { $0.removed == nil }
        guard account.removed != nil || present.count < Self.accountCount else {
            throw .invalidAccount("the server already has \(Self.accountCount) accounts", "remove some first")
        }
        accounts = (accounts ?? []) + [account]
    }

    /// Changes the limits of an account that exists; returns it.
    package mutating func limitAccount(
        _ name: String, now: Int64, _ change: (inout Account) -> Void
    ) throws(ServerError) -> Account {
        try checkPresent(account: name)
        var account = account(name) ?? Account(name: name, created: now)
        change(&account)
        try Self.checkFields(account)
        if let index = accounts?.firstIndex(where: { $0.name == name }) {
            accounts?[index] = account
        } else {
            try append(account)
        }
        return account
    }

    /// Removes the devices of an account, and marks it so that its stores and pairings are removed. Until they are, its
    /// name cannot be used. Changes nothing if the removal has begun already.
    package mutating func beginRemoval(ofAccount name: String, now: Int64) throws(ServerError) {
        let entry = account(name) ?? Account(name: name, created: now)
        guard entry.removed == nil else { return }
        var removed = entry
        removed.removed = now
        try Self.checkFields(removed)
        removeDevices(ofAccount: name)
        accounts?.removeAll { $0.name == name }
        try append(removed)
    }

    /// Frees the name of an account whose stores are gone.
    mutating func finishRemoval(ofAccount name: String) {
        accounts?.removeAll { $0.name == name && $0.removed != nil }
    }

    /// Throws for accounts that `add` would have refused, and for devices of accounts under removal.
    func checkAccounts(isLimited: Bool) throws(ServerError) {
        var names: Set<String> = []
        for account in accounts ?? [] {
            try Self.checkFields(account)
            guard names.insert(account.name).inserted else {
                throw .invalidAccount("two accounts have the name '\(account.name)'")
            }
        }
        let count = isLimited ? (accounts ?? []).count { $0.removed == nil } : 0
        guard count <= Self.accountCount else { throw .invalidAccount("more than \(Self.accountCount) accounts") }
        let present = presentAccounts
        if let device = devices.first(where: { present[$0.account] == nil }) {
            throw .invalidAccount("the account '\(device.account)' of the device '\(device.name)' is being removed")
        }
    }

    private static func checkFields(_ account: Account) throws(ServerError) {
        guard Device.isValidAccount(account.name) else {
            throw .invalidAccount("invalid account name '\(account.name)'", "use \(nameRule(64))")
        }
        for (limit, unit) in [(account.byteLimit, "bytes"), (account.storeLimit, "stores")] {
            guard let limit, limit <= 0 else { continue }
            throw .invalidAccount(
                "invalid limit of \(limit) \(unit) for the account '\(account.name)'", "use a positive number")
        }
        guard account.name != Account.defaultName || account.removed == nil else {
            throw .invalidAccount(
                "the account 'default' cannot be removed",
                "remove its devices with 'kvsd device remove', its stores with 'kvsd store remove'")
        }
    }

    private static func underRemoval(_ name: String) -> ServerError {
        .invalidAccount(
            "the account '\(name)' is being removed",
            "wait until 'kvsd account list' does not show it, or choose another name")
    }
}

extension ServerError {
    static func invalidAccount(_ message: String, _ hint: String? = nil) -> ServerError {
        ServerError(.invalidAccount, message, hint: hint)
    }
}
