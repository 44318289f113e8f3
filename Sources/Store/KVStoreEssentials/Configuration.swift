public import KVStoreCore
import KVStoreLog
import LocalFiles

/// How to open a store.
///
/// ```swift
/// var configuration = StoreConfiguration(directory: directory, storeName: "notes", isLive: false)
/// configuration.onDroppedWrite = { error in print(error) }
/// let store = try UbiquitousKeyValueStore(configuration: configuration)
/// ```
public struct StoreConfiguration: Sendable {
    /// The replica's directory, created with mode 0700 if it is missing. A path that is not absolute is relative to the
    /// current directory, and `~` is a name like any other; see `StoreDirectories`.
    public var directory: String
    /// The store's identifier, part of every path on the daemon: 1–128 of `A–Z a–z 0–9 . _ -`, no leading dot.
    public var storeName: String
    /// The limits on keys, values and the whole store.
    public var limits: StoreLimits
    /// The connection to the daemon; nil for a local store.
    public var transport: (any SyncTransport)?
    /// Whether to keep a stream open, so that changes arrive as they happen. Otherwise the store contacts the daemon
    /// after local writes and when asked to synchronize.
    public var isLive: Bool
    /// Whether what other processes write is applied as it happens. Otherwise it is when this process writes or
    /// synchronizes, or with `refresh()`, which saves a short-lived program the time that the kernel takes to end a
    /// watch (10 ms on Linux).
    public var isWatched = true
    /// The maximum number of keys per notification.
    public var notificationKeyCount: Int
    /// Called with each write past a quota that `set` drops, on the thread that writes; nil, as on Apple's systems, to
    /// leave it at the notification. A test fails, or the program stops, at the call that is responsible.
    public var onDroppedWrite: (@Sendable (StoreError) -> Void)?
    /// Whether the notification of an account change names the keys whose values differ. Apple documents only that it
    /// can, so a test may turn it off: the notification then has no changed keys, and `StoreChange.keys` is empty.
    public var accountChangeNamesKeys = true
    /// Whether the device has no account, so that values wait here for the one that it signs in to.
    package var isSignedOut = false
    /// Calls `change`, from any thread but never before this returns, with the configuration for another account that
    /// the device has joined or been signed in to, as long as the returned object exists; nil if that is not watched.
    package var watchAccount: (@Sendable (_ change: @escaping AccountChange) -> any Sendable)?
    /// Opens the store again with a configuration.
    package typealias AccountChange = @Sendable (StoreConfiguration) -> AccountChangeOutcome

    package enum AccountChangeOutcome: Sendable {
        /// The store is closed, has changed its account since, or cannot open the other replica.
        case refused
        /// Values of a store without an account are also in the other replica, and on its disk.
        case changed
        /// They do not fit there, and stay where they are.
        case changedWithoutValues
    }

    /// Called each time before a store that has changed to this configuration has values of its account.
    package var willTakePlace: (@Sendable () -> Void)?

    /// Opens a store on a simulated device; nil for one on this machine's disk.
    package var openSimulated: (@Sendable (StoreConfiguration) throws(StoreError) -> UbiquitousKeyValueStore)?

    /// Parameters are described at the properties of the same name.
    public init(
        directory: String, storeName: String = StoreConfiguration.defaultStoreName, limits: StoreLimits = StoreLimits(),
        transport: (any SyncTransport)? = nil, isLive: Bool = true, notificationKeyCount: Int = 50
    ) {
        self.directory = directory
        self.storeName = storeName
        self.limits = limits
        self.transport = transport
        self.isLive = isLive
        self.notificationKeyCount = notificationKeyCount
    }

    /// The name of a store that is opened without one.
    public static let defaultStoreName = "default"

    /// Whether the daemon accepts the name; see `storeName`.
    public static func isValidStoreName(_ name: String) -> Bool {
        guard (1...WireLimits.storeNameByteCount).contains(name.utf8.count), name.first != "." else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}

extension StoreConfiguration {
    /// The paths of damaged files of the replica that were quarantined when it was opened, and are still there. Creates
    /// nothing.
    public func quarantinedFiles() throws(StoreError) -> [String] {
        do throws(FileError) {
            return try FileLogStorage.quarantinedFiles(in: directory)
        } catch {
            throw StoreError(.storage(error), operation: "list")
        }
    }
}
