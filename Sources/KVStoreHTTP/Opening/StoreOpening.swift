public import KVStore

extension StoreEnvironment {
    /// Whether an account has been joined: whether there is a credentials file.
    public var isJoined: Bool { credentialsFile.exists }

    /// The credentials; nil where no account has been joined.
    public func credentials() throws(StoreError) -> Credentials? {
        do throws(CredentialsFile.Failure) {
            return try credentialsFile.read()
        } catch {
            throw StoreError(error)
        }
    }

    /// Whether another account has been joined, or the account has been left, since these credentials were read; nil
    /// stands for no account. A credentials file that cannot be used says neither.
    public func hasAnotherAccount(than former: Credentials?) -> Bool {
        do throws(StoreError) {
            return try credentials() != former
        } catch {
            return false
        }
    }

    /// How a store of this user is opened: the joined account's replica and daemon, or the local
    /// replica alone.
    ///
    /// - Parameters:
    ///   - isLive: whether changes arrive as they happen.
    ///   - isOnline: false reads and writes the same replica without talking to the daemon; what is
    ///     written waits there for the next program that does.
    public func configuration(
        storeNamed name: String = StoreConfiguration.defaultStoreName, isLive: Bool = true,
        limits: StoreLimits = StoreLimits(), isOnline: Bool = true,
        timeouts: HTTPTimeouts = HTTPTimeouts()
    ) throws(StoreError) -> StoreConfiguration {
        configuration(
            of: try credentials(), storeNamed: name, isLive: isLive, limits: limits,
            isOnline: isOnline, timeouts: timeouts)
    }

    /// How a store of the account that the credentials are of is opened, whatever the file says by now; nil stands
    /// for no account. For a program that goes on to see whether the account is still the one it opened.
    public func configuration(
        of credentials: Credentials?,
        storeNamed name: String = StoreConfiguration.defaultStoreName, isLive: Bool = true,
        limits: StoreLimits = StoreLimits(), isOnline: Bool = true,
        timeouts: HTTPTimeouts = HTTPTimeouts()
    ) -> StoreConfiguration {
        StoreConfiguration(
            directory: replicaDirectory(storeNamed: name, credentials: credentials),
            storeName: name, limits: limits,
            transport: isOnline
                ? credentials.map { HTTPSyncTransport($0, timeouts: timeouts) } : nil,
            isLive: isLive)
    }
}

extension UbiquitousKeyValueStore {
    /// Opens a store of this user: that of the joined account, which other devices share, or the
    /// local one where no account has been joined.
    ///
    /// Never waits for the daemon. Throws where the credentials cannot be used or the replica cannot be opened.
    public static func open(
        storeNamed name: String = StoreConfiguration.defaultStoreName, isLive: Bool = true,
        environment: StoreEnvironment = StoreEnvironment(), limits: StoreLimits = StoreLimits()
    ) throws(StoreError) -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(
            configuration: environment.configuration(
                storeNamed: name, isLive: isLive, limits: limits))
    }
}

extension StoreError {
    /// The public form of what is wrong with the credentials file.
    public init(_ failure: CredentialsFile.Failure) {
        let operation = "read the credentials"
        switch failure {
        case .exposed(let path, let mode):
            self.init(
                .unauthorized, operation: operation, subject: path,
                reason: "its mode is \(String(mode, radix: 8)), so others may use the token in it",
                hint: "run: chmod 600 \(path)")
        case .unusable(let path, let problem):
            self.init(
                .unauthorized, operation: operation, subject: path, reason: problem.description,
                hint: "join again with kvs join")
        case .system(let operation, let path, _, let message):
            self.init(.storage, operation: operation, subject: path, reason: message)
        }
    }
}
