extension DeviceFile {
    package func addAccount(
        _ name: String, byteLimit: Int? = nil, storeLimit: Int? = nil
    ) throws(ServerError) {
        try change { table throws(ServerError) in
            try table.add(
                Account(
                    name: name, created: ServerClock.wallMilliseconds(), byteLimit: byteLimit,
                    storeLimit: storeLimit))
        }
    }

    /// Throws unless devices can be added to the account.
    func checkPresent(account: String) throws(ServerError) {
        try (try read()?.table ?? DeviceTable(instance: "")).checkPresent(account: account)
    }

    /// Changes the limits of an account that exists; returns it.
    package func limitAccount(
        _ name: String, _ body: (inout Account) -> Void
    ) throws(ServerError) -> Account {
        try change { table throws(ServerError) in
            try table.limitAccount(name, now: ServerClock.wallMilliseconds(), body)
        }
    }

    /// Removes the devices of an account at once, and marks it for the removal of its stores.
    package func beginRemoval(ofAccount name: String) throws(ServerError) {
        try change { table throws(ServerError) in
            try table.beginRemoval(ofAccount: name, now: ServerClock.wallMilliseconds())
        }
    }

    /// Throws the error with which `beginRemoval` would refuse the account.
    package func checkRemoval(ofAccount name: String) throws(ServerError) {
        var table = try read()?.table
        try table?.beginRemoval(ofAccount: name, now: 0)
    }

    /// The oldest account under removal.
    var removedAccount: Account? {
        get throws(ServerError) { try read()?.table.removedAccount }
    }

    func finishRemoval(ofAccount name: String) throws(ServerError) {
        try change { table in table.finishRemoval(ofAccount: name) }
    }
}

extension PairingFile {
    func removeAll(ofAccount account: String) throws(ServerError) {
        try change { table in table.removeAll(ofAccount: account) }
    }
}
