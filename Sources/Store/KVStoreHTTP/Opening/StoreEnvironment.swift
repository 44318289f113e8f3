public import Essentials
public import KVStoreEssentials
import KVStoreWire
import LocalFiles
import Synchronization

/// Where a user's stores and credentials are, as environment variables determine it.
///
/// ```swift
/// let environment = StoreEnvironment(home: home)    // without arguments this user's own
/// let store = try UbiquitousKeyValueStore.open(storeNamed: "notes", environment: environment)
/// print(environment.isJoined, store.configuration.directory)
/// ```
public struct StoreEnvironment: Sendable, Equatable {
    public var variables: [String: String]

    public init(variables: [String: String] = ProcessInfo.processInfo.environment) {
        self.variables = variables
    }

    /// The given variables with another home directory.
    public init(home: String, variables: [String: String] = [:]) {
        self.variables = variables
        self.variables["HOME"] = home
    }

    private var directories: UserDirectories { UserDirectories(environment: variables) }

    /// `UBIQUITY_DATA_DIR`, else `ubiquity` in `XDG_DATA_HOME`, else `~/.local/share/ubiquity`.
    public var dataDirectory: String { directories.data }

    /// `UBIQUITY_CONFIG_DIR`, else `ubiquity` in `XDG_CONFIG_HOME`, else `~/.config/ubiquity`.
    public var configDirectory: String { directories.config }

    public var credentialsFile: CredentialsFile {
        CredentialsFile(path: configDirectory + "/credentials.json")
    }

    /// Whether stores belong to an account: whether the environment names a daemon, or there is a credentials file.
    public var isJoined: Bool {
        namesDaemon || FileManager.default.fileExists(atPath: credentialsFile.path)
    }

    /// The account of `UBIQUITY_DAEMON` and `UBIQUITY_TOKEN`, else the joined one; nil without one.
    ///
    /// - Throws: if only one of the variables is set or one is invalid; for the file, see `CredentialsFile.read`.
    public func credentials() throws(StoreError) -> Credentials? {
        if let named = try namedCredentials() { return named }
        return try credentialsFile.read()
    }

    /// The directory of a store's replica. Every account of every daemon has replicas of its own; without
    /// credentials the store is local.
    public func replicaDirectory(storeNamed name: String, credentials: Credentials?) -> String {
        accountDirectory(credentials) + "/" + name
    }

    /// The directory that contains the replicas of an account, or the local ones.
    public func accountDirectory(_ credentials: Credentials?) -> String {
        guard let credentials else { return replicas + "local" }
        return directory(credentials, account: emulatedAccountFile(credentials)?.account)
    }

    /// - Parameter account: that of a device of an emulator; nil for one that has not been changed.
    private func directory(_ credentials: Credentials, account: DeviceAccount?) -> String {
        replicas + Self.directoryName(credentials, account: account)
    }

    private var replicas: String { dataDirectory + "/replicas/" }

    /// Nil unless the credentials are those of a device of an emulator.
    private func emulatedAccountFile(_ credentials: Credentials) -> EmulatedAccountFile? {
        guard credentials.isEmulated else { return nil }
        return EmulatedAccountFile(directory: directory(credentials, account: nil))
    }

    /// `<account>@<host>_<port><path>`, with `%2f<device>` after the account if the environment names the device, and
    /// after that `%2f<account>` if an emulator has signed the device in to another one, empty while it is signed out.
    ///
    /// Every byte but lower-case letters, digits, `-`, `_`, and dots of the host is encoded as `%` and two digits: no
    /// account is a path, hidden, or equal to another one on a file system that ignores case. The `@` sets it apart
    /// from `local`.
    static func directoryName(_ credentials: Credentials, account: DeviceAccount? = nil) -> String {
        func encode(_ text: String, keepsDots: Bool = false) -> String {
            PercentEncoding.encode(text) { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "~"): false
                case UInt8(ascii: "."): keepsDots
                default: PercentEncoding.isUnreserved(byte)
                }
            }.lowercased()
        }
        let daemon = credentials.daemon
        let device = credentials.isFromEnvironment ? encode("/" + credentials.deviceName) : ""
        let emulated = account.map { $0 == .first ? "" : encode("/" + ($0.account ?? "")) } ?? ""
        return encode(credentials.account) + device + emulated + "@" + encode(daemon.host, keepsDots: true)
            + "_\(daemon.port)" + encode(daemon.path)
    }

    /// How to open a store of this user: the joined account's, or the local one.
    ///
    /// If `isLive` is true the store follows `kvs join` and `kvs leave` while it is open, as with `changeAccount(to:)`.
    /// If `isOnline` is false the same replica is opened without contacting the daemon; writes wait in the replica for
    /// the next program that does. The other parameters are described at `StoreConfiguration`.
    public func configuration(
        storeNamed name: String = StoreConfiguration.defaultStoreName, isLive: Bool = true,
        limits: StoreLimits = StoreLimits(), isOnline: Bool = true, timeouts: HTTPTimeouts = HTTPTimeouts()
    ) throws(StoreError) -> StoreConfiguration {
        let credentials = try credentials()
        let open = { @Sendable (credentials: Credentials?) in
            configuration(
                of: credentials, storeNamed: name, isLive: isLive, limits: limits,
                isOnline: isOnline, timeouts: timeouts)
        }
        // Variables do not change.
        return isLive && !namesDaemon ? following(credentials, open) : open(credentials)
    }

    /// The configuration for the credentials, and after them for those that are joined while the store is open.
    private func following(
        _ credentials: Credentials?, _ configuration: @escaping @Sendable (Credentials?) -> StoreConfiguration
    ) -> StoreConfiguration {
        var opened = configuration(credentials)
        opened.watchAccount = { change in
            CredentialsWatch(self, since: credentials) { present in
                change(following(present, configuration)) != .refused
            }
        }
        return opened
    }

    /// How to open a store of the given account, whichever account is joined; nil stands for no account.
    public func configuration(
        of credentials: Credentials?, storeNamed name: String = StoreConfiguration.defaultStoreName,
        isLive: Bool = true, limits: StoreLimits = StoreLimits(), isOnline: Bool = true,
        timeouts: HTTPTimeouts = HTTPTimeouts()
    ) -> StoreConfiguration {
        configuration(
            of: credentials, account: credentials.flatMap(emulatedAccountFile)?.account, storeNamed: name,
            isLive: isLive, limits: limits, isOnline: isOnline, timeouts: timeouts)
    }

    /// - Parameter account: that of a device of an emulator; nil otherwise.
    private func configuration(
        of credentials: Credentials?, account: DeviceAccount?, storeNamed name: String,
        isLive: Bool, limits: StoreLimits, isOnline: Bool, timeouts: HTTPTimeouts
    ) -> StoreConfiguration {
        let emulated = isOnline ? account.map(FollowedAccount.init) : nil
        let transport =
            isOnline
            ? credentials.map {
                HTTPSyncTransport(
                    $0, timeouts: timeouts, account: emulated, renamed: renaming($0), removal: removal(of: $0))
            } : nil
        var configuration = StoreConfiguration(
            directory: credentials.map { directory($0, account: account) + "/" + name }
                ?? replicaDirectory(storeNamed: name, credentials: nil),
            storeName: name, limits: limits, transport: transport, isLive: isLive)
        configuration.isSignedOut = account == DeviceAccount(nil)
        if let credentials, let emulated, let transport {
            configuration.watchAccount = { change in
                emulated.watch(isLive ? transport : nil) { present in
                    var next = self.configuration(
                        of: credentials, account: present, storeNamed: name, isLive: isLive,
                        limits: limits, isOnline: isOnline, timeouts: timeouts)
                    // This program may end as soon as it has the values, and the next one must not write to the former
                    // account.
                    next.willTakePlace = {
                        try? emulatedAccountFile(credentials)?.write(present)  // the emulator says it again
                    }
                    // Brought to one account, they are not brought to another.
                    if change(next) == .changed, emulated.name == nil {
                        try? FileManager.default.removeItem(  // what stays is merged again
                            atPath: directory(credentials, account: account) + "/" + name)
                    }
                }
            }
        }
        configuration.accountChangeNamesKeys = accountChangeNamesKeys
        if isStrict {
            configuration.onDroppedWrite = { error in
                Diagnostics.stop("\(error) (\(Self.strictVariable) is set; otherwise dropped)")
            }
        }
        return configuration
    }

    /// What keeps the name in the credentials file as the daemon says it is; nil for a device that the environment
    /// names.
    private func renaming(_ credentials: Credentials) -> (@Sendable (String) -> Void)? {
        guard !credentials.isFromEnvironment else { return nil }
        let known = Mutex(credentials.deviceName)
        return { name in
            let isNew = known.withLock { known in
                defer { known = name }
                return known != name
            }
            // The next program tries again.
            if isNew { try? credentialsFile.renameDevice(of: credentials, to: name) }
        }
    }
}

extension UbiquitousKeyValueStore {
    /// Opens a store of this user: the joined account's, which other devices share, or the local one.
    ///
    /// Does not wait for the daemon.
    ///
    /// - Throws: when the credentials are invalid or the replica cannot be opened.
    public static func open(
        storeNamed name: String = StoreConfiguration.defaultStoreName, isLive: Bool = true,
        environment: StoreEnvironment = StoreEnvironment(), limits: StoreLimits = StoreLimits()
    ) throws(StoreError) -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(
            configuration: environment.configuration(storeNamed: name, isLive: isLive, limits: limits))
    }
}
