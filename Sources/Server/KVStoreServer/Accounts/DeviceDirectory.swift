package import KVStoreWire

/// The devices of a running server: whom it answers, and who is connected. Safe to call from any thread.
///
/// Only `change` blocks. Requests are authenticated from memory, which may lack devices that `lookUp` finds.
package protocol DeviceDirectory: AnyObject, Sendable {
    /// Identifies the data of the server.
    var instance: String { get }

    /// Nil if the devices are in memory only.
    var storage: (any DeviceStorage)? { get }

    /// Devices that may be in memory at a time.
    var countLimit: Int { get }

    /// Whether devices that are not in memory can be found.
    var isReadable: Bool { get }

    /// Devices in memory.
    var count: Int { get }

    /// The devices in memory: all of them, or those that have used this server lately.
    var table: DeviceTable { get }

    /// Changes when a device in memory may have lost something.
    var generation: UInt64 { get }

    /// The device that a token authenticates, noted as seen now.
    func find(_ digest: TokenDigest, now: Int64) -> FoundDevice

    /// Determines what `find` could not. Completes on any thread when `find` knows the device, or with why that failed.
    func lookUp(_ digest: TokenDigest, _ complete: @escaping @Sendable (Problem?) -> Void)

    func markSeen(_ id: String, now: Int64)

    /// Whether the device still exists with the same permissions.
    func isCurrent(_ device: Device) -> Bool

    /// When the device was last seen by this server, in milliseconds since 1970, and whether it has a live stream.
    func presence(of id: String) -> (lastSeen: Int64?, isConnected: Bool)

    /// Counts a live stream until the slot's last reference is gone; nil when the device has `limit`
    /// streams already.
    func openStream(_ id: String, limit: Int, now: @escaping @Sendable () -> Int64) -> StreamSlot?

    /// The devices of an account, and which of them are connected. Completes on any thread, or at once.
    func describe(account: String, _ complete: @escaping @Sendable (Result<[DaemonDevice], Problem>) -> Void)

    /// The devices of accounts. Completes on any thread, or at once.
    func devices(ofAccounts accounts: Set<String>, _ complete: @escaping @Sendable (Result<[Device], Problem>) -> Void)

    /// Whether requests may still write to the account.
    func admits(account: String) -> Bool

    /// Changes the devices; in force, and durable if there is a storage, on return.
    func change<Value: Sendable>(
        _ selection: DeviceSelection, _ body: (inout DeviceTable) throws(ServerError) -> Value
    ) throws(ServerError) -> Value

    /// Follows the storage from now on, and keeps `accounts` up to date unless the engine does. `notify` runs after a
    /// device in memory has changed or the removal of an account has begun, on the thread that noticed.
    func observe(updating accounts: AccountRegistry, _ notify: @escaping @Sendable () -> Void)

    /// Runs `notify` after any device may have changed, on the thread that noticed.
    func addObserver(_ notify: @escaping @Sendable () -> Void)

    /// Notices changes of the storage now.
    func refresh()

    /// Ends what `observe` began; the server has stopped.
    func close() async
}

package enum FoundDevice: Sendable, Equatable {
    case device(Device)
    case unknown
    /// Not in memory.
    case undetermined
}

extension DeviceDirectory {
    package func change<Value: Sendable>(
        _ body: (inout DeviceTable) throws(ServerError) -> Value
    ) throws(ServerError) -> Value {
        try change(.all, body)
    }
}

extension DaemonDevice {
    package init(_ device: Device, lastSeen: Int64?, isConnected: Bool) {
        self.init(
            deviceID: device.id, device: device.name, scopes: device.scopes.map(\.rawValue), created: device.created,
            lastSeen: lastSeen, connected: isConnected, page: device.page)
    }
}
